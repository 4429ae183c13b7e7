"""`frontier cost`: the calculator of a page in the terminal."""

import pytest


def test_my_price_and_a_load_are_answered_from_the_stored_page(imported):
    code, said, _ = imported(
        "cost", "h100", "deepseek_v4_1_flash", "--usd", "1.17", "--load", "1000000", "--cap", "0.045436"
    )
    assert code == 0
    assert "at least 11,385 tokens/s per GPU" in said
    # 1.17 x 1e6 / (11385 x 3600) = 0.028547 and 1e6 / 11385 = 87.8 GPUs at 1.73 kW
    assert "at most $0.0286" in said
    assert "at most 88 GPUs, $102.96 per hour" in said
    assert "152.2 kW" in said
    assert "150 tokens/s per user, at $0.0454" in said


def test_a_tier_without_a_price_and_wrong_weights_are_one_sentence(imported):
    code, _, lines = imported("cost", "h100", "deepseek_v4_1_flash", "--tier", "spot")
    assert (code, len(lines)) == (1, 1)
    assert "no price of the tier 'spot'; expected owning_hyperscaler and retail. Name your own" in lines[0]
    code, _, lines = imported("cost", "h100", "deepseek_v4_1_flash", "--weights", "1,2")
    assert (code, len(lines)) == (1, 1)
    assert "three numbers" in lines[0]


@pytest.mark.parametrize(
    ("option", "value", "bounds"),
    [
        *(("--usd", value, "0.001 to 1000") for value in ("-1", "0", "nan", "inf", "1e308", "1000.1")),
        *(("--speed", value, "0 to 1e+06") for value in ("-1", "nan", "inf")),
        *(("--cap", value, "1e-09 to 1e+06") for value in ("-1", "0", "nan", "1e300")),
        *(("--load", value, "1 to 1e+15") for value in ("-1", "0", "inf", "1e300")),
    ],
)
def test_a_number_beyond_its_bounds_is_one_sentence(frontier, option, value, bounds):
    code, said, lines = frontier("cost", "h100", "deepseek_v4_1_flash", f"{option}={value}")
    assert (code, said, len(lines)) == (1, "", 1)
    assert f"expected {bounds}, found {float(value):g}." in lines[0]
    assert lines[0].startswith(f"error: {option}: ")


def test_a_price_of_ones_own_and_a_tier_are_not_both_taken(frontier):
    code, _, lines = frontier("cost", "h100", "gpt2", "--usd", "2", "--tier", "on_demand")
    assert code == 1
    assert lines == ["error: --usd 2 --tier on_demand: a price and a tier, which has its own. Leave one out."]


def test_the_bounds_themselves_are_answered(imported):
    numbers = ("--usd", "1000", "--load", "1e15", "--cap", "1e6", "--speed", "0", "--weights", "1e9,0,0")
    assert imported("cost", "h100", "deepseek_v4_1_flash", *numbers)[0] == 0
    assert imported("cost", "h100", "deepseek_v4_1_flash", "--weights", "nan,1,1")[0] == 1
