import datetime as dt

import pytest

from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Limits, Load, Topology
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep.budget import Asked, Estimate, bound_s, estimate, is_complete, planned_topologies, shares

RECIPE = measured_recipes()["cpu_vllm_fixed"].model_copy(
    update={
        "topologies": (Topology(tp=8),),
        "concurrency": Concurrency(start=2, end=8, factor=2),
        "load": Load(repeats=3, warmup_s=10, window_s=60, grace_s=30),
        "limits": Limits(max_concurrency=16, silence_s=300),
    }
)


def run(day: int, wall_s: float | None, stopped: str = "plateau", recipe: str = "a", topology: str = "tp8") -> dict:
    return {
        "recipe": recipe,
        "topology": topology,
        "run_date": dt.date(2026, 11, day),
        "started_at": dt.datetime(2026, 11, day, tzinfo=dt.UTC),
        "stopped_above": stopped,
        "wall_s": wall_s,
    }


def asked(gpu: str, priority: int, gpu_hours: float) -> Asked:
    return Asked(gpu, priority, Estimate(gpu_hours, "its last sweeps"))


def test_a_sweep_takes_what_the_median_of_its_last_three_took_times_its_gpus():
    # 8 GPUs; the last three took 1, 3 and 2 h; the one before, which took 9 h, no longer counts
    runs = [run(4, 7200), run(1, 32400), run(2, 3600), run(3, 10800)]
    assert estimate({"a": RECIPE}, runs) == Estimate(16.0, "its last sweeps")


def test_an_interrupted_run_and_one_that_held_nothing_say_nothing_about_the_next():
    runs = [run(1, 3600), run(2, 60, stopped="unfinished"), run(3, None)]
    assert estimate({"a": RECIPE}, runs).gpu_hours == 8.0


def test_what_was_never_swept_takes_the_bound_of_its_recipe():
    # 300 s until a silent start is given up, rungs 1 2 4 8 16, each 3 × (10 + 60 + 30) s
    assert bound_s(RECIPE) == 300 + 5 * 300
    assert estimate({"a": RECIPE}, []) == Estimate(4.0, "never swept: the bound of its recipes")


def test_every_deployment_counts_with_its_own_gpus():
    two = RECIPE.model_copy(update={"topologies": (Topology(tp=8), Topology(tp=4, n_workers=2), Topology(tp=2))})
    runs = [run(1, 3600), run(1, 1800, topology="2×tp4")]
    # 8 GPUs × 1 h + 8 × 0.5 h + 2 × 0.5 h of the bound
    expected = Estimate(13.0, "its last sweeps, and the bound of 1 deployment never swept")
    assert estimate({"a": two}, runs) == expected


def test_the_higher_priority_gets_its_share_first_and_equals_go_by_name():
    found = shares([asked("b300", 1, 5), asked("a100", 2, 5), asked("h200", 2, 5)], budget_gpu_hours=10)
    assert [one.gpu for one in found.within] == ["a100", "h200"]
    assert found.left_out == (
        "b300 is left out: it takes about 5.0 GPU hours (its last sweeps), and 0.0 of 10 are left.",
    )


def test_one_that_does_not_fit_does_not_keep_a_smaller_one_after_it_out():
    found = shares([asked("a100", 3, 6), asked("b300", 2, 8), asked("h100", 1, 4)], budget_gpu_hours=10)
    assert [one.gpu for one in found.within] == ["a100", "h100"]
    assert len(found.left_out) == 1


def test_what_takes_nothing_fits_into_any_budget():
    assert [one.gpu for one in shares([asked("h100", 0, 0)], budget_gpu_hours=0.1).within] == ["h100"]


@pytest.mark.parametrize(
    ("runs", "is_done"),
    [
        ([], False),
        ([run(1, 60), run(1, 60, topology="tp4")], True),
        ([run(1, 60)], False),
        ([run(1, 60), run(1, 60, "unfinished", topology="tp4")], False),
        ([run(1, 60, recipe="b"), run(1, 60, recipe="b", topology="tp4")], False),
    ],
)
def test_a_cell_is_complete_when_every_deployment_of_every_recipe_has_ended(runs, is_done):
    recipe = RECIPE.model_copy(update={"topologies": (Topology(tp=8), Topology(tp=4))})
    planned = planned_topologies({"a": recipe})
    assert planned == {"a": ["tp8", "tp4"]}
    assert is_complete(planned, runs) == is_done


def test_a_simulated_recipe_is_complete_when_it_has_a_run():
    assert is_complete({"a": []}, [run(1, None, "ladder_ends")])
    assert not is_complete({"a": []}, [])
