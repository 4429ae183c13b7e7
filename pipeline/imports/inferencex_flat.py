"""InferenceX aggregate rows: lists of flat objects in seconds and tokens per second per GPU (agg_*.json).

Two generations: hw/tp/conc with a file name that alone says the lengths, and isl/osl with prefill and decode fields.
std_intvty is 1/std and is not read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job, Lengths, Recorded, without_nulls
from pipeline.imports.fields import day, flag, link, moment, positive, size, text
from pipeline.imports.inferencex_pools import fill_pools, prefill_share
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError

SOURCE_FORMAT = "inferencex_flat"

LATENCY_KEYS = {"ttft": "{}_ttft", "tpot": "{}_tpot", "itl": "{}_itl", "e2el": "{}_e2el"}
S_PER_UNIT = 1.0
TEXTS = {
    "gpu": ("hw", "hardware"),
    "engine": ("framework",),
    "engine_build": ("image",),
    "precision": ("precision",),
    "model": ("model", "infmax_model_prefix"),
    "spec_method": ("spec_decoding", "spec_method", "mtp"),
    "run_id": ("run_id",),
}
DATES = ("date", "timestamp", "ts")
SERVING_CONFIGS = {"AGG": False, "DISAGG": True}


def matches(row: Mapping[str, Any]) -> bool:
    """Whether a row is of this format."""
    return "hw" in row and "tput_per_gpu" in row


def read(job: Job, rows: list[Any]) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if not isinstance(row, dict) or not matches(row):
        raise RowRejectedError("not_a_row", "The row has no hw and tput_per_gpu.")
    return draft_of(row, row)


def draft_of(row: Mapping[str, Any], metrics: Mapping[str, Any]) -> Draft:
    """A draft from a configuration and its metrics, which are one object here and two in the API's rows."""
    draft = Draft(recorded(row), without_nulls({"concurrency": size(row.get("conc"))}))
    draft.columns |= latency_columns(metrics, LATENCY_KEYS, S_PER_UNIT)
    started = next((instant for instant in (moment(row.get(key)) for key in DATES) if instant), None)
    draft.columns |= without_nulls({"run_started_at": started})
    fill_pools(draft, row, metrics)
    fill_speed(draft, metrics)
    draft.lengths = Lengths(input_per_output=_input_per_output(metrics))
    if row.get("run_url") is not None and draft.recorded.run_url is None:
        draft.notes.add("run_url_not_a_link")
    return draft


def recorded(row: Mapping[str, Any]) -> Recorded:
    """The facts of a row under InferenceX's keys."""
    named = Recorded(**{name: _first_text(row, keys) for name, keys in TEXTS.items()})  # type: ignore[arg-type]
    disaggregated = flag(row.get("disagg"))
    unspeculative = "none" if row.get("speculation_length") == 0 else None
    return dataclasses.replace(
        named,
        spec_method=named.spec_method or unspeculative,
        run_date=next((d for d in (day(row.get(key)) for key in DATES) if d), None),
        input_len_tok=size(row.get("isl")),
        output_len_tok=size(row.get("osl")),
        disaggregated=SERVING_CONFIGS.get(str(row.get("serving_config"))) if disaggregated is None else disaggregated,
        multinode=flag(row.get("is_multinode")),
        run_url=link(row.get("run_url")),
    )


def fill_speed(draft: Draft, metrics: Mapping[str, Any]) -> None:
    """Median interactivity of rows without a median TPOT; InferenceX computes it as 1 / median TPOT."""
    speed = positive(metrics.get("median_intvty"))
    if speed and "tpot_p50_s" not in draft.columns:
        draft.columns["tpot_p50_s"] = 1 / speed
        draft.columns["interactivity_source"] = "median_intvty"


def _first_text(row: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((found for found in (text(row.get(key)) for key in keys) if found), None)


def _input_per_output(metrics: Mapping[str, Any]) -> float | None:
    """Mean input over mean output length, from throughputs of the same GPUs."""
    total, output = positive(metrics.get("tput_per_gpu")), positive(metrics.get("output_tput_per_gpu"))
    input_ = positive(metrics.get("input_tput_per_gpu"))
    if not total or not output:
        return None
    share = prefill_share({"total": total, "input": input_, "output": output})
    if input_ and share and total < (input_ + output) * 0.99:
        return input_ * share / (output * (1 - share))
    return (total - output) / output if total > output else None
