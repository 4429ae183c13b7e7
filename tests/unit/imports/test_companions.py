"""Which files say something about another one."""

import pytest

from pipeline.imports.companions import companion_names


def test_a_genai_bench_result_has_the_description_of_its_folder():
    name = "D100_11_text-to-text_num_concurrency_2_time_4s.json"
    assert companion_names(name) == ("experiment_metadata.json",)


def test_where_folders_became_names_the_description_that_shares_most_comes_first():
    assert companion_names("bench__run1__D100_11_num_concurrency_2_time_4s.json") == (
        "bench__run1__experiment_metadata.json",
        "bench__experiment_metadata.json",
        "experiment_metadata.json",
    )


def test_the_files_of_an_llmperf_run_belong_to_each_other():
    assert "m_550_150_individual_responses.json" in companion_names("m_550_150_summary.json")
    assert companion_names("m_550_150_individual_responses.json")[0] == "m_550_150_summary.json"
    assert companion_names("a__individual__b.json") == ("a__summary__b.json",)


@pytest.mark.parametrize("name", ["result.json", "summaryofall.json", "x_summary.csv", "experiment_metadata.json", ""])
def test_other_files_have_none(name):
    assert companion_names(name) == ()
