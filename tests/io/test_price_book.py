import datetime as dt

import pytest

from pipeline.errors import PriceError
from resources.price_book import PriceBook

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"
BOOK = HEADER + "h100,retail,1.30,2026-03-18,2026-07-31,a table\nh100,retail,1.780,2026-07-31,,a table\n"


@pytest.fixture
def book(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text(BOOK)
    return PriceBook(file=str(path))


def new(**changes):
    body = {"gpu": "h100", "tier": "retail", "usd_per_gpu_hour": 2.0, "source": "quote"}
    return {**body, "valid_from": dt.date(2026, 8, 15), **changes}


def test_a_new_price_ends_the_open_one_and_leaves_history_as_it_was(book, tmp_path):
    book.add(new())
    assert (tmp_path / "prices.csv").read_text() == HEADER + (
        "h100,retail,1.30,2026-03-18,2026-07-31,a table\n"
        "h100,retail,1.780,2026-07-31,2026-08-15,a table\n"
        "h100,retail,2,2026-08-15,,quote\n"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gpu": "h10"}, "unknown gpu 'h10'. Did you mean 'h100'?"),
        ({"tier": "retial"}, "unknown tier 'retial'. Did you mean 'retail'?"),
        ({"usd_per_gpu_hour": 0}, "greater than 0"),
        ({"usd_per_gpu_hour": float("nan")}, "finite number"),
        ({"source": ""}, "at least 1 character"),
        ({"valid_from": dt.date(2026, 5, 1)}, "overlap"),
    ],
)
def test_a_bad_price_is_one_sentence_and_changes_nothing(book, tmp_path, changes, words):
    with pytest.raises(PriceError) as error:
        book.add(new(**changes))
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert (tmp_path / "prices.csv").read_text() == BOOK


def test_the_version_of_a_gpu_changes_exactly_when_its_rows_do(book):
    before = book.versions(["h100", "b300"])
    assert book.versions(["h100", "b300"]) == before
    book.add(new(gpu="b300"))
    after = book.versions(["h100", "b300"])
    assert after["h100"] == before["h100"]
    assert after["b300"] != before["b300"]


def test_a_source_with_a_comma_survives(book):
    book.add(new(source='quote, "spot"'))
    assert book.prices()[-1].source == 'quote, "spot"'
