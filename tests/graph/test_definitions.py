"""The graph as it is loaded: which assets, in which groups, under which policies."""

import datetime as dt

import dagster as dg
import pytest

from pipeline.cell import GpuRun, parse_cell
from pipeline.definitions import defs
from pipeline.errors import RegistryError
from pipeline.partitions import build_partitions, cell_partitions, gpu_partitions, run_date_partitions
from pipeline.registry.shipped import shipped_builds, shipped_registry
from pipeline.tables.points import POINTS

DERIVED = {"frontier", "cost_tables", "page_data"}


@pytest.fixture(scope="module")
def nodes():
    graph = defs.resolve_asset_graph()
    return {key.to_user_string(): graph.get(key) for key in graph.get_all_asset_keys()}


def test_the_graph_is_the_one_that_the_readme_draws(nodes):
    edges = {(parent.to_user_string(), name) for name, node in nodes.items() for parent in node.parent_keys}
    assert edges == {
        ("imported_results", "raw_results"),
        ("engine_builds", "sweep"),
        ("sweep", "raw_results"),
        ("raw_results", "frontier"),
        ("frontier", "cost_tables"),
        ("price_book", "cost_tables"),
        ("raw_results", "page_data"),
        ("frontier", "page_data"),
        ("cost_tables", "page_data"),
        ("page_data", "site"),
    }


def test_every_asset_has_a_group_a_description_and_kinds(nodes):
    for name, node in nodes.items():
        assert node.group_name != "default", name
        assert node.description, name
        assert node.kinds or name == "price_book", name


def test_cells_are_partitioned_by_gpu_and_run_date_in_that_order(nodes):
    assert nodes["raw_results"].partitions_def == cell_partitions
    assert cell_partitions.partition_dimension_names == ["gpu", "run_date"]
    assert nodes["page_data"].partitions_def == gpu_partitions
    assert gpu_partitions.get_partition_keys() == list(shipped_registry().gpus)


def test_the_keys_of_a_range_are_dagsters_and_are_made_once_for_all_cells_of_a_run():
    upstream = dg.MultiPartitionsDefinition({"gpu": gpu_partitions, "run_date": run_date_partitions})
    for ends in (("h100|2026-01-01", "h100|2026-01-03"), ("b300|2026-01-01", "b300|2026-01-01")) * 2:
        keys = cell_partitions.get_partition_keys_in_range(dg.PartitionKeyRange(*ends))
        assert keys == upstream.get_partition_keys_in_range(dg.PartitionKeyRange(*ends))
        again = cell_partitions.get_partition_keys_in_range(dg.PartitionKeyRange(*ends))
        assert all(one is other for one, other in zip(keys, again, strict=True))


def test_engine_builds_are_partitioned_by_build_and_stand_apart(nodes):
    assert nodes["engine_builds"].partitions_def == build_partitions
    assert build_partitions.get_partition_keys() == list(shipped_builds())
    assert nodes["engine_builds"].group_name == "builds"
    assert nodes["engine_builds"].backfill_policy is None
    assert not nodes["engine_builds"].parent_keys


def test_derived_assets_backfill_in_one_run_a_gpu(nodes):
    for name in DERIVED | {"raw_results"}:
        assert nodes[name].backfill_policy == dg.BackfillPolicy.single_run(), name


def test_a_sweep_has_no_backfill_policy_because_one_would_bypass_the_limit_of_one_run_a_gpu(nodes):
    assert nodes["sweep"].partitions_def == cell_partitions
    assert nodes["sweep"].backfill_policy is None
    assert nodes["sweep"].automation_condition is None


def test_no_schedule_or_sensor_starts_a_sweep_before_somebody_switches_it_on():
    schedules = [schedule for schedule in defs.schedules if schedule.job_name == "run_sweep"]
    sensors = [s for s in defs.sensors if s.name != "automation" and "run_sweep" in {t.job_name for t in s.targets}]
    status = {one.name: one.default_status.name for one in (*schedules, *sensors)}
    assert set(status) == {"nightly_sweeps", "weekly_sweeps", "new_releases", "confirm_regressions"}
    assert set(status.values()) == {"STOPPED"}


def test_nothing_that_measures_or_reads_files_is_automated(nodes):
    automated = {name for name, node in nodes.items() if node.automation_condition}
    assert automated == DERIVED | {"raw_results", "site"}


def test_column_metadata_reaches_the_ui_with_units(nodes):
    schema = nodes["raw_results"].metadata["dagster/column_schema"].schema
    column = next(c for c in schema.columns if c.name == "throughput_tok_s_gpu")
    assert len(schema.columns) == len(POINTS.columns)
    assert column.description.endswith("[tok/s/GPU]")


@pytest.mark.parametrize(
    "key", ["h100|2026-10-02", dg.MultiPartitionKey({"gpu": "h100", "run_date": "2026-10-02"})], ids=["bare", "multi"]
)
def test_a_partition_key_is_parsed_bare_or_multi(key):
    assert parse_cell(key) == GpuRun("h100", dt.date(2026, 10, 2))
    assert parse_cell(key).key == "h100|2026-10-02"


@pytest.mark.parametrize(
    ("key", "words"), [("h10|2026-10-02", "Did you mean 'h100'"), ("h100|2026-13-01", "expected gpu|YYYY-MM-DD")]
)
def test_a_bad_partition_key_is_one_sentence(key, words):
    with pytest.raises(RegistryError) as error:
        parse_cell(key)
    assert words in str(error.value)
