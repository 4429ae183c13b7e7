"""The transcribed ladders, and any file of the same header."""

import pytest

from pipeline.errors import UnreadableFileError
from pipeline.imports.published_readings import HEADER, shipped_readings

LINE = "deepseek_v4_1_flash,h100,agentx,vllm,fp4,75,11385,2026-09-24,a page"


def file_of(*lines, header=HEADER):
    return "\n".join([",".join(header), *lines]) + "\n"


def test_a_reading_is_a_speed_and_a_throughput_and_says_that_it_is_one(point):
    found = point(file_of(LINE))
    assert (found["interactivity_tok_s_user"], found["throughput_tok_s_gpu"]) == (75.0, 11385.0)
    assert (found["interactivity_source"], found["percentile"]) == ("published_reading", 90)
    assert (found["concurrency"], found["n_gpus"]) == (None, None)
    assert found["notes"] == ["published_reading", "reading_published_without_date"]
    assert found["valid"]


def test_each_speed_is_a_point_of_its_own_and_no_attempt_at_another(read):
    points = read(file_of(LINE, LINE.replace(",75,11385", ",100,9711"))).points
    assert sorted(points["topology"].to_pylist()) == [
        "unknown (read at 100 tok/s/user)",
        "unknown (read at 75 tok/s/user)",
    ]


def test_a_peak_has_no_speed_and_is_rejected(rejection):
    assert rejection(file_of(LINE.replace(",vllm,fp4,75,", ",,fp4,,"))).code == "published_peak"


def test_another_header_is_refused(read):
    with pytest.raises(UnreadableFileError, match="wrong header"):
        read(file_of(LINE, header=tuple(reversed(HEADER))))


def test_a_short_line_is_rejected(rejection):
    assert rejection(file_of("deepseek_v4_1_flash,h100")).code == "not_a_row"


def test_a_throughput_that_is_no_number_is_rejected(rejection):
    assert rejection(file_of(LINE.replace("11385", "fast"))).code == "throughput_unreadable"


def test_the_shipped_transcription_has_sixteen_readings_and_three_peaks(read):
    outcome = read(shipped_readings().content, "published_readings.csv")
    per_gpu = outcome.points["gpu"].to_pylist()
    assert {gpu: per_gpu.count(gpu) for gpu in sorted(set(per_gpu))} == {"b300": 5, "gb200": 5, "h100": 6}
    assert (outcome.n_valid, [r.code for r in outcome.rejected]) == (16, ["published_peak"] * 3)
