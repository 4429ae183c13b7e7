"""A verdict in words: for the check, the notification and the page of what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.frontier.verdict_rows import CurveVerdict

STATE_WORDS = {
    "suspected": "suspected regression: one more run will tell",
    "confirmed": "confirmed regression: two runs in a row are worse",
    "not_confirmed": "regression not confirmed: the next run agrees with the earlier curve",
    "recovered": "recovered: better than the regression, and not worse than before it",
}


def regression_words(verdict: CurveVerdict) -> str:
    """One sentence: state, series, run, and each target that counts as old → new (ratio)."""
    row = verdict.first
    precision = f" {row['precision']}" if row["precision"] else ""
    series = f"{row['model']} on {row['gpu']}, {row['workload']}, {row['engine']}{precision}, {row['run_date']}"
    readings = "; ".join(reading_words(target) for target in verdict.counted) or "no target outside the noise"
    state = STATE_WORDS.get(verdict.state or "") or str(row["verdict"])
    against = f" against {row['against_run_date']}" if row["against_run_date"] else ""
    return f"{state[:1].upper()}{state[1:]}. {series}{against}: {readings}."


def reading_words(row: Mapping[str, Any]) -> str:
    """One target: at 50 tok/s/user 9,000 → 8,100 tok/s/GPU (−10.0 %)."""
    old, new = row["against_throughput_tok_s_gpu"], row["throughput_tok_s_gpu"]
    change = "" if row["ratio"] is None else f" ({percent(row['ratio'])})"
    return f"at {row['target_tok_s_user']:g} tok/s/user {_amount(old)} → {_amount(new)} tok/s/GPU{change}"


def change_words(row: Mapping[str, Any]) -> str:
    """What a verdict adds to the line of one changed reading; "" where it adds nothing to the test of that reading."""
    against = f"the run of {row['against_run_date']}"
    change = "" if row["ratio"] is None else f" ({percent(row['ratio'])})"
    if row["state"] in ("suspected", "confirmed"):
        if row["target_verdict"] != "worse":
            return ""
        rest = "One more run will tell." if row["state"] == "suspected" else "Two runs in a row are worse."
        return f"{row['state'].capitalize()} regression against {against}{change}. {rest}"
    if row["state"] == "not_confirmed":
        return f"The regression that the run before was suspected of is not confirmed: this one agrees with {against}."
    return f"Recovered from a confirmed regression{change}." if row["state"] == "recovered" else ""


def percent(ratio: float) -> str:
    """A ratio as a signed change in percent."""
    return f"{ratio - 1:+.1%}"


def _amount(value: float | None) -> str:
    return "not reached" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
