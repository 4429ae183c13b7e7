"""The calendar: the only place that asks what day or time of day it is."""

import datetime as dt

import dagster as dg


class Clock(dg.ConfigurableResource):
    """UTC days and moments. ``fixed_day`` (YYYY-MM-DD) stops the calendar, for tests and for pages as of a past day."""

    fixed_day: str = ""

    def today(self) -> dt.date:
        """The current UTC day, or the fixed one."""
        return self.now().date()

    def now(self) -> dt.datetime:
        """The current moment in UTC, to the second; midnight of the fixed day where there is one."""
        if self.fixed_day:
            return dt.datetime.combine(dt.date.fromisoformat(self.fixed_day), dt.time(), dt.UTC)
        return dt.datetime.now(dt.UTC).replace(microsecond=0)
