"""Which points a later sitting measures again, and how the attempt is numbered."""

from pipeline.sweep.broken_off import MAX_ATTEMPTS, next_attempt, passed_over


def row(concurrency: int, attempt: int = 1, *reasons: str) -> dict:
    return {
        "point_id": f"c{concurrency}-{attempt}",
        "concurrency": concurrency,
        "attempt": attempt,
        "reasons": list(reasons),
    }


def test_a_point_whose_server_or_client_ended_is_measured_again():
    rows = [row(1), row(2, 1, "load_ended"), row(4, 1, "engine_ended", "no_success")]
    assert passed_over(rows) == {"c2-1", "c4-1"}


def test_a_point_that_is_invalid_for_what_it_shows_is_not():
    assert passed_over([row(1, 1, "too_many_failed"), row(2, 1, "client_bound")]) == frozenset()


def test_all_attempts_are_passed_over_together_and_none_once_one_came_to_its_end():
    broken = [row(2, 1, "load_ended"), row(2, 2, "engine_ended")]
    assert passed_over(broken) == {"c2-1", "c2-2"}
    assert passed_over([broken[0], row(2, 2)]) == frozenset()
    assert passed_over([broken[0], row(2, 2, "too_many_failed")]) == frozenset()


def test_what_was_broken_off_five_times_is_a_finding():
    broken = [row(2, attempt, "engine_ended") for attempt in (1, 2, 3, 4, 5)]
    assert len(broken) == MAX_ATTEMPTS
    assert passed_over(broken) == frozenset()
    assert len(passed_over(broken[:4])) == 4


def test_attempts_are_numbered_by_concurrency():
    rows = [row(1), row(2, 1, "load_ended"), row(2, 2, "load_ended")]
    assert [next_attempt(rows, concurrency) for concurrency in (1, 2, 4)] == [2, 3, 1]
