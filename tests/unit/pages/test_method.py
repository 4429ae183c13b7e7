from pipeline.pages.build import build_sections
from pipeline.pages.method import method_facts
from tests.unit.pages.pairs import pair_of, point


def facts(rows) -> dict[str, str]:
    return {fact.term: fact.text for fact in method_facts(build_sections(pair_of(rows))[0])}


def test_what_was_not_recorded_is_said_to_be_so():
    found = facts([point(50.0, 900.0)])
    assert found["Window"] == "not recorded"
    assert (found["Power"], found["Clock and temperature"]) == ("not recorded", "not recorded")
    assert found["Repeats"] == "not recorded; no spread is known"
    assert found["Load client's own error"] == "not measured"


def test_what_was_recorded_is_shown():
    known = {
        "n_requested": 400,
        "n_successful": 398,
        "n_failed": 2,
        "n_cancelled": 0,
        "n_warmup": 10,
        "n_repeats": 3,
        "throughput_std_tok_s_gpu": 18.0,
        "window": "steady_state",
        "client_error_share": 0.012,
        "engine_build": "0.33.0",
        "spec_method": "mtp",
        "spec_accept_len_tok": 2.6,
        "power_w_gpu": 641.0,
        "energy_j_output_tok": 0.4567,
        "clock_mhz": 1755.0,
        "temperature_max_c": 71.4,
    }
    found = facts([point(50.0, 900.0, **known)])
    assert found["Requests"] == "400 requests, 2 failed; 10 warm-up requests excluded"
    assert (
        found["Repeats"]
        == "mean of 3 repeats; their standard deviation is at most ± 2% of the throughput, point by point"
    )
    assert found["Window"] == "steady state, while the target concurrency was held"
    assert found["Load client's own error"] == "at most 1.2% of the time per output token"
    assert found["Engine builds"] == "vLLM 0.33.0"
    assert found["Speculative decoding"] == "mtp (2.60 tokens accepted per step)"
    assert found["Power"] == "641 W to 641 W per GPU; 0.457 J to 0.457 J per output token"
    assert found["Clock and temperature"] == "1,755 MHz to 1,755 MHz on average; at most 71 °C"


def test_facts_of_some_points_only_say_so():
    rows = [point(50.0, 900.0, device_name="NVIDIA H100"), point(60.0, 800.0)]
    assert facts(rows)["Device"] == "NVIDIA H100; not recorded for some points"


def test_a_long_list_is_cut_and_says_how_much_is_left():
    rows = [point(50.0 + n, 900.0 - n, topology=f"tp{n}") for n in range(1, 9)]
    assert facts(rows)["Topologies"] == "tp1, tp2, tp3, tp4, tp5, tp6 and 2 more, in the points table"


def test_the_facts_leave_out_invalid_points():
    rows = [point(50.0, 900.0, topology="tp8"), point(60.0, 1.0, topology="tp1", valid=False, reasons=["no_success"])]
    assert facts(rows)["Topologies"] == "tp8"
