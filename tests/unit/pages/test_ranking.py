from dataclasses import dataclass

from pipeline.pages.ranking import cheapest_first, fastest_first, why_best


@dataclass(frozen=True)
class Cell:
    throughput_tok_s_gpu: float | None
    cost_usd_mtok: float | None


FAST, CHEAP, EMPTY, UNPRICED = Cell(900.0, 0.5), Cell(600.0, 0.2), Cell(None, None), Cell(700.0, None)
ROW = [EMPTY, CHEAP, FAST, UNPRICED]


def test_fastest_is_the_highest_throughput_and_cheapest_the_lowest_cost():
    assert fastest_first(ROW) == [FAST, UNPRICED, CHEAP]
    assert cheapest_first(ROW) == [CHEAP, FAST]


def test_the_best_of_a_row_says_of_how_many_it_is_the_best():
    assert why_best(FAST, ROW) == "highest of 3"
    assert why_best(CHEAP, ROW) == "cheapest of 2"
    assert (why_best(UNPRICED, ROW), why_best(EMPTY, ROW)) == (None, None)
    assert why_best(FAST, [FAST, Cell(1.0, 9.0)]) == "highest of 2 and cheapest of 2"


def test_a_value_that_stands_alone_is_not_best_of_anything():
    assert why_best(FAST, [FAST, EMPTY]) is None
