import datetime as dt

import pytest

from pipeline.errors import PriceError
from resources.price_book import PriceBook
from tests.tco_inputs import tco_block

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
        ({"source": ""}, "source: string should have at least 1 character"),
        ({"valid_from": dt.date(2026, 5, 1), "valid_to": dt.date(2026, 8, 1)}, "reaches beyond 2026-07-31"),
        ({"tier": "tco"}, "the tier tco is computed, never quoted"),
        (
            {"valid_from": dt.date(2026, 7, 31)},
            "h100/retail/2026-07-31 exists already, at 1.78 USD per GPU-hour (a table)",
        ),
        ({"valid_from": dt.date(2026, 3, 18)}, "h100/retail/2026-03-18 exists already, at 1.3 USD"),
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


def test_a_correction_is_written_and_one_without_a_reason_changes_nothing(book, tmp_path):
    body = new(valid_from=dt.date(2026, 7, 31), correction_reason="a slip")
    with pytest.raises(PriceError, match="correction_reason"):
        book.correct(body | {"correction_reason": ""}, dt.date(2026, 11, 20))
    assert (tmp_path / "prices.csv").read_text() == BOOK
    book.correct(body, dt.date(2026, 11, 20))
    assert "h100,retail,1.780,2026-07-31,,a table,,2026-11-20,a slip\n" in (tmp_path / "prices.csv").read_text()
    assert [price.usd_per_gpu_hour for price in book.prices()] == [1.3, 1.78, 2.0]


def test_every_fault_of_a_file_is_named_with_its_line(book, tmp_path):
    (tmp_path / "prices.csv").write_text(BOOK + "h10,retail,1,2026-01-01,,x\nh100,retail,2,2026-08-15,,x\n")
    unknown, overlap = map(str, book.checked().faults)
    assert unknown.startswith("prices.csv line 4: unknown gpu 'h10'")
    assert overlap.startswith("prices.csv lines 3 and 5: h100/retail/2026-07-31 and h100/retail/2026-08-15 overlap")


TCO = tco_block("h100", "2026-01-01", "example")


def test_computed_prices_stand_in_the_book_beside_the_quoted_ones_and_move_the_version_of_their_gpu(tmp_path):
    (tmp_path / "prices.csv").write_text(BOOK)
    (tmp_path / "tco.toml").write_text("")
    book = PriceBook(file=str(tmp_path / "prices.csv"), tco_file=str(tmp_path / "tco.toml"))
    before = book.versions(["h100", "b300"])
    (tmp_path / "tco.toml").write_text(TCO)
    rows = book.tables(["h100"])["h100"].to_pylist()
    assert [(row["tier"], row["usd_per_gpu_hour"]) for row in rows] == [("retail", 1.3), ("retail", 1.78), ("tco", 2.0)]
    after = book.versions(["h100", "b300"])
    assert after["h100"] != before["h100"]
    assert after["b300"] == before["b300"]
    assert book.computed_rate("h100", dt.date(2026, 1, 1)).usd_per_owned_hour == 1.0
    assert book.computed_rate("b300", dt.date(2026, 1, 1)) is None


def test_a_source_with_a_comma_survives(book):
    book.add(new(source='quote, "spot"'))
    assert book.prices()[-1].source == 'quote, "spot"'
