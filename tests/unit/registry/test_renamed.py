"""Renamed slugs: what was stored under the old one is read under the new one, to the price row."""

import dataclasses
import datetime as dt

import pytest

from pipeline.cost.price_edits import added
from pipeline.errors import RegistryError
from pipeline.registry.price_rows import parse_prices
from pipeline.registry.renamed import Renamed, refuse_orphans, with_todays_slugs
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.changes import CHANGES
from pipeline.tables.points import POINTS
from tests.unit.frontier.point_rows import curve, points_table

RENAMED = Renamed(gpus={"hopper": "h100"}, models={"flash": "deepseek_v4_1_flash"}, engines={"vllm0": "vllm"})
BOOK = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\nhopper,retail,2.00,2026-01-01,,quote\n"


def test_rows_come_into_todays_slugs_and_keep_everything_else():
    old = points_table(curve((60.0, 9000.0), gpu="hopper", model="flash", engine="vllm0", engine_family="vllm0"))
    new = points_table(
        curve((60.0, 9000.0), gpu="h100", model="deepseek_v4_1_flash", engine="vllm", engine_family="vllm")
    )
    kept = [name for name in POINTS.names if name != "point_id"]
    assert with_todays_slugs(old, RENAMED).select(kept).equals(new.select(kept))
    assert with_todays_slugs(old, RENAMED)["point_id"].equals(old["point_id"])
    assert with_todays_slugs(old, Renamed()).equals(old)


def test_the_log_of_changes_is_read_in_todays_slugs_with_its_price_rows():
    empty = {name: None for name in CHANGES.names}
    lists = {c.name: [] for c in CHANGES.columns if str(c.type).startswith("list")}
    row = empty | lists | {"sequence": 0, "change_id": "x", "published_on": dt.date(2026, 1, 1)}
    row |= {
        "model": "flash",
        "gpu": "hopper",
        "workload": "agentx",
        "provenance": "measured",
        "target_tok_s_user": 50.0,
    }
    row |= {"new_engine": "vllm0", "new_price_ids": ["hopper/retail/2026-01-01"]}
    (read,) = with_todays_slugs(CHANGES.from_rows([row]), RENAMED).to_pylist()
    assert (read["gpu"], read["model"], read["new_engine"]) == ("h100", "deepseek_v4_1_flash", "vllm")
    assert (read["old_engine"], read["new_price_ids"]) == (None, ["h100/retail/2026-01-01"])


def test_prices_of_the_old_slug_are_the_new_ones():
    (price,) = parse_prices(BOOK, "prices.csv", gpus=["h100"], tiers=["retail"], renamed=RENAMED.gpus)
    assert price.price_id == "h100/retail/2026-01-01"


def test_a_new_price_ends_the_open_row_of_the_old_slug():
    body = {"gpu": "h100", "tier": "retail", "usd_per_gpu_hour": 3.0, "valid_from": dt.date(2026, 2, 1), "source": "x"}
    registry = dataclasses.replace(shipped_registry(), renamed_gpus=RENAMED.gpus)
    text = added(BOOK, body, "prices.csv", registry).text
    assert text.splitlines()[1:] == ["hopper,retail,2.00,2026-01-01,2026-02-01,quote", "h100,retail,3,2026-02-01,,x"]


def test_results_of_a_deleted_block_are_refused_with_what_to_do():
    with pytest.raises(RegistryError) as told:
        refuse_orphans("gpu", ["h100", "hoper"], ["h100", "h200"], "gpus.toml")
    assert str(told.value) == (
        "gpus.toml: results of the gpu 'hoper' are stored, and no block is of it. Put its block back (a GPU that is no "
        "longer swept gets retired = true), or lead hoper to its new slug in renamed.toml. Known: h100, h200."
    )
    refuse_orphans("gpu", ["h100"], ["h100", "h200"], "gpus.toml")
