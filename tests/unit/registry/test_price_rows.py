"""The price book's file is strict: what is wrong names the file, the line, what was expected and the next step."""

import pytest

from pipeline.errors import PriceError
from pipeline.registry.price_rows import parse_prices, price_line
from pipeline.registry.shipped import shipped_prices, shipped_registry

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("h10,retail,1,2026-01-01,,x\n", "prices.csv line 2: unknown gpu 'h10'. Did you mean 'h100'?"),
        ("h100,retial,1,2026-01-01,,x\n", "unknown tier 'retial'. Did you mean 'retail'?"),
        ("h100,retail,-1,2026-01-01,,x\n", "usd_per_gpu_hour: input should be greater than 0; found '-1'"),
        ("h100,retail,nan,2026-01-01,,x\n", "finite number"),
        ("h100,retail,1,01.02.2026,,x\n", "valid_from"),
        ("h100,retail,1,2026-01-02,2026-01-01,x\n", "the interval is empty"),
        ("h100,retail,1,2026-01-01,,\n", "source"),
        ("h100,retail,1,2026-01-01\n", "wrong number of fields"),
        ("h100,retail,1,2026-01-01,,x,y\n", "wrong number of fields"),
        ("h100,retail,1,2026-01-01,,x\nh100,retail,2,2026-02-01,,x\n", "overlap; expected the earlier one to end on"),
    ],
)
def test_a_bad_price_line_is_one_sentence(lines, words):
    with pytest.raises(PriceError) as error:
        parse_prices(HEADER + lines, "prices.csv", gpus=["h100", "h200"], tiers=["retail"])
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_another_header_is_refused():
    with pytest.raises(PriceError, match="wrong header; expected gpu,tier"):
        parse_prices("gpu,tier\n", "prices.csv", gpus=[], tiers=[])


def test_the_shipped_prices_are_the_public_history(shared_dir):
    public = (shared_dir / "reference" / "prices.csv").read_text(encoding="utf-8")
    registry = shipped_registry()
    expected = parse_prices(public, "public", gpus=registry.gpus, tiers=registry.tiers)
    assert set(expected) <= set(shipped_prices())


MARKED = HEADER.replace("source", "source,recorded_on,corrected_on,correction_reason")
OLD = "h100,retail,1,2026-01-01,,x,,2026-03-01,a slip\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("h100,retail,1,2026-01-01,,x,,2026-03-01,\n", "half a correction"),
        ("h100,retail,1,2026-01-01,,x,,,a slip\n", "half a correction"),
        ("h100,retail,1,2026-01-01,,x,2026-03-02,2026-03-01,a slip\n", "corrected before it was recorded"),
        ("h100,retail,1,2026-01-01,,x,,soon,a slip\n", "corrected_on"),
        ("h100,retail,1,2026-01-01,,x\n", "wrong number of fields; expected 9"),
        (OLD + "h100,retail,2,2026-01-01,,x,2026-02-28,,\n", "overlap"),
        (OLD + "h100,retail,2,2026-01-01,,x,,,\n", "overlap"),
        ("h100,tco,1,2026-01-01,,x,,,\n", "the tier tco is computed, never quoted"),
    ],
)
def test_a_bad_correction_is_one_sentence(lines, words):
    with pytest.raises(PriceError) as error:
        parse_prices(MARKED + lines, "prices.csv", gpus=["h100"], tiers=["retail", "tco"])
    assert words in str(error.value)


def test_a_corrected_row_and_its_correction_stand_side_by_side():
    text = MARKED + "h100,retail,2,2026-01-01,,x,2026-03-01,,\n" + OLD
    old, new = parse_prices(text, "prices.csv", gpus=["h100"], tiers=["retail"])
    assert (old.usd_per_gpu_hour, old.replaced, new.usd_per_gpu_hour, new.replaced) == (1, True, 2, False)
    assert old.price_id == new.price_id
    assert not old.overlaps(new)


@pytest.mark.parametrize("line", [OLD, 'h100,retail,1.25,2026-01-01,2026-02-01,"a, ""b""",,,\n'])
def test_a_row_is_written_as_it_was_read(line):
    (price,) = parse_prices(MARKED + line, "prices.csv", gpus=["h100"], tiers=["retail"])
    assert price_line(price, 9) == line
