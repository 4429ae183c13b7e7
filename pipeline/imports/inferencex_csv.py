"""InferenceX's CSV export (Model, ISL, OSL, Hardware, …): latencies labelled ms whatever their unit.

The label is not believed: a row's own speed decides. Median interactivity × median TPOT is 1 for seconds and 1,000 for
milliseconds; where it is neither, the row is rejected.
"""

from __future__ import annotations

from typing import Any

from pipeline.imports.assemble import read_rows
from pipeline.imports.draft import Draft, Job
from pipeline.imports.inferencex_flat import draft_of
from pipeline.imports.latencies import latency_columns
from pipeline.imports.outcome import Outcome, RowRejectedError
from pipeline.imports.text_table import TextTable, number_in

SOURCE_FORMAT = "inferencex_csv"

FACTS = {
    "Model": "model",
    "ISL": "isl",
    "OSL": "osl",
    "Hardware": "hw",
    "Framework": "framework",
    "Precision": "precision",
    "TP": "tp",
    "EP": "ep",
    "DP Attention": "dp_attention",
    "Concurrency": "conc",
    "Date": "date",
    "Disaggregated": "disagg",
    "Is Multinode": "is_multinode",
    "Num Prefill GPUs": "num_prefill_gpu",
    "Num Decode GPUs": "num_decode_gpu",
    "Spec Decoding": "spec_decoding",
}
THROUGHPUTS = {
    "Throughput/GPU (tok/s)": "tput_per_gpu",
    "Output Throughput/GPU (tok/s)": "output_tput_per_gpu",
    "Input Throughput/GPU (tok/s)": "input_tput_per_gpu",
}
LATENCY_KEYS = {"ttft": "{} TTFT (ms)", "tpot": "{} TPOT (ms)", "itl": "{} ITL (ms)", "e2el": "{} E2E Latency (ms)"}
S_PER_UNIT = {"seconds": 1.0, "milliseconds": 1e-3}
SPEED, TPOT = "Median Interactivity (tok/s/user)", "Median TPOT (ms)"


def matches(header: tuple[str, ...]) -> bool:
    """Whether a table is of this format."""
    return {"Model", "ISL", "OSL", "Hardware", "Framework", "Throughput/GPU (tok/s)"} <= set(header)


def read(job: Job, table: TextTable) -> Outcome:
    """All rows of a file."""
    return read_rows(job, SOURCE_FORMAT, table.rows, _draft)


def _draft(job: Job, row: Any) -> Draft:
    if None in row or None in row.values():
        raise RowRejectedError("not_a_row", "The row has another number of fields than the header.")
    facts = {ours: row[name] for name, ours in FACTS.items() if row.get(name)}
    metrics = {ours: number_in(row.get(name)) for name, ours in THROUGHPUTS.items()}
    draft = draft_of(facts, metrics)
    unit = _unit(row)
    if unit == "seconds":
        draft.notes.add("unit_label_contradicted")
    lowered = {name.lower(): number_in(value) for name, value in row.items()}
    names = {latency: key.lower() for latency, key in LATENCY_KEYS.items()}
    draft.columns |= latency_columns(lowered, names, S_PER_UNIT[unit])
    return draft


def _unit(row: dict[str, str]) -> str:
    speed, tpot = number_in(row.get(SPEED)), number_in(row.get(TPOT))
    if speed and tpot:
        for unit, product in (("seconds", 1.0), ("milliseconds", 1_000.0)):
            if abs(speed * tpot / product - 1) < 0.01:
                return unit
    raise RowRejectedError(
        "unit_undecidable", f"{SPEED} × {TPOT} is neither 1 nor 1,000: the latencies have no certain unit."
    )
