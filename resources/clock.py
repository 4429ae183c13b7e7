"""The calendar: the only place that asks what day it is."""

import datetime as dt

import dagster as dg


class Clock(dg.ConfigurableResource):
    """UTC days. ``fixed_day`` (YYYY-MM-DD) stops the calendar, for tests and for pages as of a past day."""

    fixed_day: str = ""

    def today(self) -> dt.date:
        """The current UTC day, or the fixed one."""
        return dt.date.fromisoformat(self.fixed_day) if self.fixed_day else dt.datetime.now(dt.UTC).date()
