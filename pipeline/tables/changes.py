"""CHANGES: what a publication changed, one row a reading, appended and never rewritten."""

import pyarrow as pa

from pipeline.tables.columns import Column, Table, count, day, number, text, texts


def _numbers(name: str, description: str, unit: str) -> Column:
    return Column(name, pa.list_(pa.float64()), unit, description, nullable=False)


def _state(when: str) -> tuple[Column, ...]:
    """One published state of a reading, before or after."""
    return (
        number(f"{when}_throughput_tok_s_gpu", "tok/s/GPU", f"{when} total throughput; null where there was none"),
        number(f"{when}_throughput_std_tok_s_gpu", "tok/s/GPU", f"{when} spread over repeats; null where not known"),
        count(f"{when}_n_repeats", f"{when} repeats of the raw rows; null where not said"),
        number(f"{when}_delivered_tok_s_user", "tok/s/user", f"{when} speed that the reading delivers"),
        text(f"{when}_basis", f"{when} basis: measured, interpolated, faster_config or unreachable; null: no page"),
        text(f"{when}_engine", f"{when} engine slug; null where there was no value"),
        text(f"{when}_precision", f"{when} number format of the checkpoint; null where there was no value"),
        texts(f"{when}_engine_builds", f"{when} engine builds of the raw rows"),
        texts(f"{when}_configs", f"{when} topologies and speculative methods of the raw rows"),
        texts(f"{when}_runs", f"{when} runs of the raw rows, as date and run id"),
        texts(f"{when}_point_ids", f"{when} raw rows that bracket the reading"),
        texts(f"{when}_price_ids", f"{when} price rows, in the order of the tiers"),
        _numbers(f"{when}_usd_per_gpu_hour", f"{when} rates of those price rows", "USD/GPU/h"),
        _numbers(f"{when}_cost_usd_mtok", f"{when} costs per million total tokens at those price rows", "USD/Mtok"),
    )


CHANGES = Table(
    name="changes",
    grain="one reading that a publication changed: what it was, what it is, and why",
    columns=(
        count("sequence", "0-based position in the log", nullable=False),
        text("change_id", "hash of the row but for its day: names the change in the feed", nullable=False),
        day("published_on", "UTC day of the publication", nullable=False),
        text("model", "model slug of the registry", nullable=False),
        text("gpu", "GPU slug of the registry", nullable=False),
        text("workload", "workload slug of the registry", nullable=False),
        text("provenance", "measured, imported or simulated", nullable=False),
        number("target_tok_s_user", "tok/s/user", "the speed target, read as a minimum", nullable=False),
        texts("reasons", "codes: why it changed (pipeline/pages/changes.py)"),
        text("noise", "outside, within or unknown: the difference against the spread over repeats; null: none"),
        *_state("old"),
        *_state("new"),
    ),
    order=("sequence",),
)
