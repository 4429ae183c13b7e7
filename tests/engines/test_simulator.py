"""The real simulator, where its environment is: deterministic to the byte, and numbers that can be."""

import os
from pathlib import Path

import pytest

from pipeline.registry.shipped import shipped_registry, simulated_recipes
from pipeline.sweep.plan import plan
from pipeline.sweep.simulated import Answer, simulated_point
from pipeline.sweep.simulator_requests import profile_request, replay_request
from pipeline.sweep.traces import trace_lines
from resources.simulator import Simulator
from tests.graph.conftest import DAY

pytestmark = pytest.mark.simulator
PYTHON = os.environ.get("FRONTIER_SIMULATOR_PYTHON", "")


@pytest.fixture
def simulator(tmp_path) -> Simulator:
    if not Path(PYTHON).is_file():
        pytest.skip("the simulator's environment is not here: FRONTIER_SIMULATOR_PYTHON names no interpreter")
    return Simulator(python=PYTHON, cache_dir=str(tmp_path / "cache"))


def simulate(simulator, connection, slug, concurrency):
    recipe = simulated_recipes()[slug]
    workload = shipped_registry().workload(recipe.workload)
    (point,) = [p for p in plan({slug: recipe}) if p.concurrency == concurrency]
    with simulator.session() as session:
        profile = session.profile(profile_request(recipe, workload))
        asked = replay_request(point, workload, profile.facts["n_kv_blocks"])
        said = session.replay(asked, trace_lines(workload, concurrency), profile)
    return simulated_point(connection, point, workload, DAY, Answer(said["report"], said["requests"], profile.facts))


@pytest.mark.parametrize("slug", ["h100_vllm_agentic_synthetic", "b300_sglang_agentic_synthetic"])
def test_a_cached_context_is_not_computed_again(simulator, connection, slug):
    row = simulate(simulator, connection, slug, 1)
    assert row["valid"]
    assert 0.93 < row["cache_hit_share"] < 0.95
    # a turn adds about a thousand tokens; computing 57,000 again would take over a second
    assert row["ttft_p50_s"] < 0.2


def test_two_replays_of_one_trace_give_the_same_row(simulator, connection):
    assert simulate(simulator, connection, "gb200_sglang_fixed_8k1k", 8) == simulate(
        simulator, connection, "gb200_sglang_fixed_8k1k", 8
    )


def test_more_requests_in_flight_give_more_throughput_and_slower_users(simulator, connection):
    rows = [simulate(simulator, connection, "h100_sglang_fixed_8k1k", c) for c in (1, 16, 256)]
    throughputs = [row["throughput_tok_s_gpu"] for row in rows]
    speeds = [row["interactivity_tok_s_user"] for row in rows]
    assert throughputs == sorted(throughputs)
    assert speeds == sorted(speeds, reverse=True)
    assert rows[0]["achieved_concurrency"] == pytest.approx(1)
