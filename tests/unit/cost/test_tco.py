"""The computed price: its formula with numbers checked by eye, its history, and what is refused."""

import datetime as dt

import pytest

from pipeline.cost.tco import annuity_share, computed_prices, computed_rates, cost_parts, rate_as_of
from pipeline.errors import PriceError, RegistryError
from pipeline.registry.shipped import shipped_registry, shipped_text
from pipeline.registry.tco import parse_tco

VALUES = {
    "server_capital_usd_gpu": 30_000.0,
    "network_capital_usd_gpu": 5_040.0,
    "life_years": 4.0,
    "cost_of_capital_share_year": 0.0,
    "maintenance_share_year": 0.05,
    "colocation_usd_kw_month": 73.0,
    "it_power_kw_gpu": 2.0,
    "power_usd_kwh": 0.10,
    "pue": 1.25,
    "utilisation_share": 0.8,
}
JANUARY, JULY = dt.date(2026, 1, 1), dt.date(2026, 7, 1)


def toml(**changes):
    values = {key: f"{{ value = {value}, as_of = 2026-01-01, source = 'example' }}" for key, value in VALUES.items()}
    lines = [f"{key} = {value}" for key, value in (values | changes).items() if value is not None]
    return "[h100]\n" + "\n".join(lines) + "\n"


def inputs(**changes):
    return parse_tco(toml(**changes), "tco.toml", ["h100"])["h100"]


def test_without_interest_the_capital_is_paid_back_in_equal_parts_and_with_it_as_an_annuity():
    assert annuity_share(0.0, 4.0) == 0.25
    assert annuity_share(0.10, 1.0) == pytest.approx(1.10)
    assert annuity_share(0.10, 2.0) == pytest.approx(0.121 / 0.21)
    balance = 1.0
    for _ in range(2):
        balance = balance * 1.10 - annuity_share(0.10, 2.0)
    assert balance == pytest.approx(0.0, abs=1e-12)


def test_the_parts_of_an_owned_hour_are_those_of_the_formula():
    assert [part.usd_per_gpu_hour for part in cost_parts(VALUES)] == pytest.approx([1.0, 0.2, 0.2, 0.25])


def test_data_centre_power_is_it_power_times_pue():
    all_in = {key: value for key, value in VALUES.items() if key != "it_power_kw_gpu"} | {"all_in_power_kw_gpu": 2.5}
    assert cost_parts(all_in) == cost_parts(VALUES)


def test_an_hour_that_serves_costs_the_owned_hour_over_the_utilisation():
    (rate,) = computed_rates(inputs())
    assert rate.usd_per_owned_hour == pytest.approx(1.65)
    assert rate.usd_per_gpu_hour == pytest.approx(2.0625)
    assert (rate.valid_from, len(rate.inputs)) == (JANUARY, 10)


HISTORY = """[
    { value = 0.3, as_of = 2026-07-01, source = "bill" },
    { value = 0.1, as_of = 2026-01-01, source = "example" },
]"""


def test_a_later_value_of_one_input_begins_another_price_and_leaves_the_first_one_as_it_was():
    before, after = inputs(), inputs(power_usd_kwh=HISTORY)
    assert [rate.valid_from for rate in computed_rates(after)] == [JANUARY, JULY]
    assert computed_rates(after)[0] == computed_rates(before)[0]
    first, second = computed_prices("h100", after, "tco.toml")
    (only,) = computed_prices("h100", before, "tco.toml")
    assert first == only.model_copy(update={"valid_to": JULY})
    assert second.usd_per_gpu_hour - first.usd_per_gpu_hour == pytest.approx(0.2 * 2.0 * 1.25 / 0.8)
    assert (first.tier, first.price_id) == ("tco", "h100/tco/2026-01-01")
    assert first.source.startswith("computed: tco.toml ")
    assert first.source != second.source


def test_a_price_holds_from_the_day_on_which_every_input_is_known():
    late = inputs(pue="{ value = 1.25, as_of = 2026-07-01, source = 'example' }")
    assert [rate.valid_from for rate in computed_rates(late)] == [JULY]
    assert rate_as_of(late, JULY) == computed_rates(late)[0]
    assert rate_as_of(late, dt.date(2026, 6, 30)) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pue": None}, "tco.toml [h100]: pue is missing; expected every input"),
        ({"puee": "1"}, "unknown key 'puee'. Did you mean 'pue'?"),
        ({"pue": "1.25"}, "tco.toml [h100] pue: not a dated value"),
        ({"pue": "{ value = 0.9, as_of = 2026-01-01, source = 'x' }"}, "expected 1 to 3 1, found 0.9"),
        ({"pue": "{ value = 1.2, as_of = 2026-01-01 }"}, "key 'source': field required"),
        ({"pue": "{ value = 1.2, as_of = 2026-01-01, source = '' }"}, "key 'source'"),
        ({"pue": "{ value = 1.2, as_of = '2026', source = 'x' }"}, "key 'as_of'"),
        ({"pue": "{ value = 1.2, as_of = 2026-01-01, source = 'x', unit = '1' }"}, "unknown key 'unit'"),
        ({"pue": "[]"}, "no value"),
        ({"pue": HISTORY.replace("07-01", "01-01").replace("0.", "1.")}, "two values of one day"),
        ({"it_power_kw_gpu": None}, "the power of one GPU is given twice or not at all"),
        ({"all_in_power_kw_gpu": "{ value = 2.0, as_of = 2026-01-01, source = 'x' }"}, "given twice or not at all"),
    ],
)
def test_an_input_that_is_missing_unknown_undated_unsourced_or_implausible_is_one_sentence(changes, words):
    with pytest.raises(RegistryError) as error:
        inputs(**changes)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_price_beyond_what_a_price_can_be_is_refused_with_the_place_of_its_inputs():
    dear = inputs(
        server_capital_usd_gpu="{ value = 1000000.0, as_of = 2026-01-01, source = 'x' }",
        utilisation_share="{ value = 0.01, as_of = 2026-01-01, source = 'x' }",
    )
    with pytest.raises(PriceError, match=r"tco.toml \[h100\]: usd_per_gpu_hour"):
        computed_prices("h100", dear, "tco.toml")


def test_an_unknown_gpu_is_refused_and_a_file_without_a_block_computes_nothing():
    with pytest.raises(RegistryError, match="unknown gpu 'h100'"):
        parse_tco(toml(), "tco.toml", ["b300"])
    assert parse_tco("# nothing\n", "tco.toml", ["h100"]) == {}


def test_the_shipped_file_is_valid_and_so_is_the_example_in_its_comments():
    text = shipped_text("tco.toml")
    assert parse_tco(text, "tco.toml", shipped_registry().gpus) == {}
    example = text[text.index("# [h100]") :]
    uncommented = "\n".join(line.removeprefix("# ") for line in example.splitlines())
    found = parse_tco(uncommented, "tco.toml", shipped_registry().gpus)
    assert [rate.valid_from for rate in computed_rates(found["h100"])] == [JANUARY, JULY]
