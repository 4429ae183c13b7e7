import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.registry.shipped import simulated_recipes
from pipeline.sweep.choice import chosen
from pipeline.sweep.plan import engine_build, ladder, plan

RECIPES = simulated_recipes()


@pytest.mark.parametrize(
    ("start", "end", "factor", "rungs"),
    [
        (1, 64, 2.0, (1, 2, 4, 8, 16, 32, 64)),
        (1, 50, 2.0, (1, 2, 4, 8, 16, 32, 50)),
        (4, 32, 4.0, (4, 16, 32)),
        (1, 4, 1.1, (1, 2, 3, 4)),
        (8, 8, 2.0, (8,)),
    ],
)
def test_a_ladder_multiplies_and_always_ends_at_its_end(start, end, factor, rungs):
    assert ladder(start, end, factor) == rungs


@given(st.integers(1, 500), st.integers(0, 500), st.floats(1.01, 10))
def test_a_ladder_rises_strictly_from_start_to_end(start, more, factor):
    rungs = ladder(start, start + more, factor)
    assert (rungs[0], rungs[-1]) == (start, start + more)
    assert list(rungs) == sorted(set(rungs))


def test_a_gpu_gets_the_points_of_its_own_recipes_and_one_run_a_recipe():
    points = plan(chosen(RECIPES, "h100", ()))
    assert {p.slug for p in points} == {slug for slug, recipe in RECIPES.items() if recipe.gpu == "h100"}
    assert len({p.fingerprint for p in points}) == len(points)
    assert len({(p.slug, p.run_id) for p in points}) == len({p.run_id for p in points}) == len({p.slug for p in points})


def test_a_fingerprint_depends_on_the_deployment_and_not_on_the_name():
    slug, recipe = "a", RECIPES["h100_vllm_agentic_synthetic"]
    before = plan({slug: recipe})
    assert plan({"b": recipe.model_copy(update={"name": "another name"})})[0].fingerprint == before[0].fingerprint
    assert plan({slug: recipe.model_copy(update={"tp": 4, "ep": 4})})[0].fingerprint != before[0].fingerprint


def test_another_ladder_is_another_run_because_one_curve_comes_from_one_run():
    recipe = RECIPES["h100_vllm_agentic_synthetic"]
    longer = recipe.model_copy(update={"concurrency": recipe.concurrency.model_copy(update={"end": 128})})
    old, new = plan({"a": recipe}), plan({"a": longer})
    assert not {p.fingerprint for p in old} & {p.fingerprint for p in new}


def test_the_build_names_tables_and_simulators_with_versions():
    assert (
        engine_build(RECIPES["b300_sglang_agentic_synthetic"])
        == "simulated on tables of 0.5.14 (ai-dynamo 1.4.2, aiconfigurator 0.12.0)"
    )
