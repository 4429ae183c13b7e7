"""Pairs by hand for the tests of the pages: points in, through the derivation, a PairInput out."""

import dataclasses
import datetime as dt

import duckdb
import pyarrow as pa

from pipeline.cost.price_readings import costs_as_of, price_readings
from pipeline.frontier.across import combined_frontier, curve_history, newest_curves, read_across
from pipeline.frontier.derive import derive_curves
from pipeline.pages.inputs import PairInput
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from pipeline.tables.prices import PRICES

AS_OF = dt.date(2026, 10, 10)
DAY = dt.date(2026, 9, 24)


def point(x: float | None, y: float | None, **columns: object) -> dict[str, object]:
    """A valid agentic point on an H100 at speed x (tok/s/user) with throughput y (tok/s/GPU)."""
    row: dict[str, object] = {
        "point_id": f"{columns.get('engine', 'vllm')}-{x}-{columns.get('run_id', 'run1')}",
        "model": "deepseek_v4_1_flash",
        "gpu": "h100",
        "workload": "agentx",
        "engine": "vllm",
        "precision": "fp4",
        "spec_method": "none",
        "provenance": "measured",
        "engine_family": "vllm",
        "topology": "tp8",
        "n_gpus": 8,
        "run_id": "run1",
        "run_date": DAY,
        "attempt": 1,
        "valid": True,
        "reasons": [],
        "notes": [],
        "percentile": 90,
        "interactivity_tok_s_user": x,
        "throughput_tok_s_gpu": y,
        "declared": [],
        "source_format": "test",
        "source_file": "test.json",
        "source_sha256": "0",
        "source_row": 0,
    }
    if x:
        row |= {"concurrency": int(1000 / x), "tpot_p90_s": 1 / x, "ttft_p90_s": 30 / x}
    return row | columns


def price(tier: str, usd_per_gpu_hour: float, gpu: str = "h100") -> dict[str, object]:
    """A price row that holds since 2026-07-31."""
    valid_from = dt.date(2026, 7, 31)
    return {
        "price_id": f"{gpu}/{tier}/{valid_from}",
        "gpu": gpu,
        "tier": tier,
        "usd_per_gpu_hour": usd_per_gpu_hour,
        "valid_from": valid_from,
        "source": "public price table",
    }


H100_PRICES = [price("owning_hyperscaler", 1.17), price("retail", 2.00)]


def pair_of(rows: list[dict[str, object]], prices: list[dict[str, object]] | None = None) -> PairInput:
    """The pair of the first row, derived from all rows."""
    points = POINTS.from_rows(rows)
    book = PRICES.from_rows(H100_PRICES if prices is None else prices)
    with duckdb.connect(":memory:") as connection:
        connection.register("points", points)
        curves = derive_curves(connection, ["agentx"])
        costs = price_readings(connection, curves.readings, book)
        return PairInput(
            model=str(rows[0]["model"]),
            gpu=str(rows[0]["gpu"]),
            points=points,
            knots=newest_curves(connection, curves.knots),
            frontier=combined_frontier(connection, curves.knots),
            across=read_across(connection, curves.knots, curves.readings),
            history=curve_history(connection, curves.knots, curves.readings, points),
            costs=costs_as_of(connection, costs, AS_OF),
            prices=book,
            registry=shipped_registry(),
            as_of=AS_OF,
        )


def h100_rows() -> list[dict[str, object]]:
    """Two series: a slow SGLang one and a fast vLLM one that starts at 75 tok/s/user."""
    slow = [(20.0, 3300.0), (30.0, 2694.0), (60.0, 1600.0)]
    fast = [(75.0, 11385.0), (100.0, 9711.0), (150.0, 7153.0), (200.0, 5126.0)]
    rows = [
        point(x, y, engine="sglang", engine_family="sglang", run_id="run0", run_date=dt.date(2026, 9, 18))
        for x, y in slow
    ]
    rows += [
        point(
            x,
            y,
            output_throughput_tok_s_gpu=y * 0.0072,
            computed_input_throughput_tok_s_gpu=y * 0.05,
            cache_hit_share=0.95,
        )
        for x, y in fast
    ]
    return rows


def renamed(pair: PairInput, name: str) -> PairInput:
    """The same pair whose model has another name."""
    entry = pair.registry.models[pair.model].model_copy(update={"name": name})
    models = {**pair.registry.models, pair.model: entry}
    return dataclasses.replace(pair, registry=dataclasses.replace(pair.registry, models=models))


def only_column(table: pa.Table, name: str) -> list[object]:
    """One column as a list."""
    return table.column(name).to_pylist()
