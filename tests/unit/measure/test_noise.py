import pytest

from pipeline.measure.noise import Repeated, holm, noise_verdict, welch_p_value


# Three repeats each with a spread of 1: error = sqrt(1/3 + 1/3) = 0.8165, 4 degrees of freedom, t = 2.776: 2.267
@pytest.mark.parametrize(("new", "verdict"), [(102.26, "within"), (102.27, "outside"), (97.73, "outside")])
def test_a_difference_counts_beyond_t_times_its_standard_error(new, verdict):
    assert noise_verdict(Repeated(100.0, 1.0, 3), Repeated(new, 1.0, 3)) == verdict


def test_the_side_with_the_large_spread_sets_the_degrees_of_freedom():
    # 1 degree of freedom: error = 10 / sqrt(2) = 7.07, t = 12.706: 89.8
    assert noise_verdict(Repeated(100.0, 10.0, 2), Repeated(189.0, 0.0, 50)) == "within"
    assert noise_verdict(Repeated(100.0, 10.0, 2), Repeated(190.0, 0.0, 50)) == "outside"


@pytest.mark.parametrize("other", [Repeated(200.0, None, 3), Repeated(200.0, 1.0, None), Repeated(200.0, 1.0, 1)])
def test_without_a_spread_on_both_sides_nothing_is_known(other):
    assert noise_verdict(Repeated(100.0, 1.0, 3), other) == "unknown"
    assert noise_verdict(other, Repeated(100.0, 1.0, 3)) == "unknown"


def test_without_any_spread_every_difference_counts():
    assert noise_verdict(Repeated(100.0, 0.0, 3), Repeated(100.1, 0.0, 3)) == "outside"
    assert noise_verdict(Repeated(100.0, 0.0, 3), Repeated(100.0, 0.0, 3)) == "within"


def test_many_repeats_are_read_at_thirty_degrees_of_freedom():
    # error = sqrt(2/100) = 0.1414, t = 2.042: 0.2888
    assert noise_verdict(Repeated(10.0, 1.0, 100), Repeated(10.29, 1.0, 100)) == "outside"
    assert noise_verdict(Repeated(10.0, 1.0, 100), Repeated(10.28, 1.0, 100)) == "within"


# Quantiles of Student's t from any table: 1 degree 63.657, 2 degrees 9.925, 4 degrees 4.604, 30 degrees 2.750 at 1 %
@pytest.mark.parametrize(("n", "t"), [(2, 9.925), (3, 4.604), (16, 2.750)])
def test_a_p_value_is_that_of_the_tables(n, t):
    new = 100.0 + t * (2 / n) ** 0.5
    assert welch_p_value(Repeated(100.0, 1.0, n), Repeated(new, 1.0, n)) == pytest.approx(0.01, abs=2e-5)


def test_one_degree_of_freedom():
    assert welch_p_value(Repeated(0.0, 2.0, 2), Repeated(63.657 * 2**0.5, 0.0, 50)) == pytest.approx(0.01, abs=2e-5)


def test_several_differences_share_their_five_percent():
    assert holm({"a": 0.049}) == {"a"}
    assert holm({"a": 0.049, "b": 0.5}) == set()
    assert holm({"a": 0.024, "b": 0.049}) == {"a", "b"}
    assert holm({"a": 0.01, "b": 0.03, "c": 0.9}) == {"a"}
    assert holm({}) == set()
