"""Tuning results, token-position results and the CSV export."""

import pytest

from pipeline.imports.inferencex_csv import FACTS, LATENCY_KEYS, THROUGHPUTS
from tests.unit.imports.foreign import tokpos_row, tuned_row


def test_a_tuning_result_has_totals_and_says_its_gpus(point):
    found = point(tuned_row())
    assert (found["n_gpus"], found["throughput_tok_s_gpu"], found["output_throughput_tok_s_gpu"]) == (8, 1200.0, 600.0)
    assert (found["ttft_p50_s"], found["interactivity_tok_s_user"]) == (0.5, 40.0)
    assert (found["topology"], found["power_w_gpu"], found["n_successful"]) == ("tp8 ep8", 571.7, 1277)
    assert found["run_started_at"].isoformat() == "2026-06-12T00:56:37+00:00"
    assert found["declared"] == []


def test_token_position_results_are_in_seconds(point):
    facts = {"gpu": "h200", "engine": "vllm", "precision": "fp8", "n_gpus": 8}
    found = point(tokpos_row(), "x__tep8_isl128_osl32_conc16.json", **facts)
    assert (found["ttft_p50_s"], found["interactivity_tok_s_user"]) == (0.45, 40.0)
    assert found["throughput_tok_s_gpu"] == pytest.approx(16.0)  # 1,280 / 10 s / 8
    assert (found["source_format"], found["workload"]) == ("tokpos", "random_128_32")


def csv_of(tpot, speed):
    row = {
        **dict.fromkeys(FACTS, ""),
        **dict.fromkeys(THROUGHPUTS, "100"),
        "Model": "gpt-oss-120b",
        "ISL": "1024",
        "OSL": "1024",
        "Hardware": "h200",
        "Framework": "vllm",
        "Precision": "fp4",
        "TP": "8",
        "Concurrency": "4",
        "Date": "2026-06-05",
        "Disaggregated": "false",
        "Throughput/GPU (tok/s)": "200",
        LATENCY_KEYS["tpot"].format("Median"): tpot,
        LATENCY_KEYS["ttft"].format("Median"): tpot,
        "Median Interactivity (tok/s/user)": speed,
    }
    return "# attribution\n" + ",".join(row) + "\n" + ",".join(row.values()) + "\n"


@pytest.mark.parametrize(("tpot", "noted"), [("0.004", True), ("4", False)])
def test_the_rows_own_speed_decides_the_unit_of_a_column_labelled_ms(point, tpot, noted):
    found = point(csv_of(tpot, "250"))
    assert (found["tpot_p50_s"], found["interactivity_tok_s_user"]) == (0.004, 250.0)
    assert ("unit_label_contradicted" in found["notes"]) is noted
    assert (found["n_gpus"], found["throughput_tok_s_gpu"], found["concurrency"]) == (8, 200.0, 4)


def test_a_unit_that_nothing_decides_rejects_the_row(rejection):
    assert rejection(csv_of("0.04", "250")).code == "unit_undecidable"


def test_an_extract_with_a_short_row_rejects_that_row(read):
    assert read(csv_of("0.004", "250") + "gpt-oss-120b,1024\n").rejected[0].code == "not_a_row"
