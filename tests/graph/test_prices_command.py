"""`frontier prices …` as a person meets it; what becomes of costs and pages is test_price_history.py's."""

import datetime as dt
import json

import pytest

HEADER = "gpu,tier,usd_per_gpu_hour,valid_from,valid_to,source\n"
BOOK = HEADER + "h100,neocloud,1.80,2026-03-18,,a\nh100,retail,2.00,2026-03-18,2026-07-31,a\n"


def book(tmp_path, text=BOOK):
    (tmp_path / "prices.csv").write_text(text)
    return tmp_path / "prices.csv"


def add(*arguments):
    return ("prices", "add", "h100", "retail", *arguments, "--source", "quote", "--no-publish")


def test_check_counts_rows_and_prints_nothing_else_for_a_book_that_is_in_order(frontier, tmp_path):
    file = book(tmp_path)
    code, said, lines = frontier("prices", "check")
    assert (code, said, lines) == (0, f"{file}: 2 rows, 0 errors, 0 warnings; computed prices of 0 GPUs.", [])


def test_check_prints_every_error_and_fails(frontier, tmp_path):
    book(tmp_path, BOOK + "h10,retail,1,2026-01-01,,x\nh100,retail,1,2026-05-01,,\n")
    code, said, lines = frontier("prices", "check")
    assert code == 1
    assert "4 rows, 2 errors, 0 warnings" in said
    assert lines[0] == "error: prices.csv line 4: unknown gpu 'h10'. Did you mean 'h100'?"
    assert lines[1].startswith("error: prices.csv line 5: source: ")


def test_check_prints_warnings_and_succeeds(frontier, tmp_path):
    book(tmp_path, BOOK + "h100,retail,8.00,2026-08-15,,a\n")
    code, said, _ = frontier("prices", "check")
    assert code == 0
    assert "warning: prices.csv lines 3 and 4: no price of h100, retail from 2026-07-31 until 2026-08-15" in said
    assert "warning: prices.csv line 4: h100/retail/2026-08-15 is 8 USD per GPU-hour after 2, 4 times as much" in said
    assert "3 rows, 0 errors, 2 warnings" in said


def test_check_refuses_inputs_of_the_computed_tier_that_are_not_complete(frontier, tmp_path):
    book(tmp_path)
    (tmp_path / "tco.toml").write_text("[h100]\npue = 1.2\n")
    code, _, lines = frontier("prices", "check")
    assert code == 1
    assert "tco.toml [h100]: server_capital_usd_gpu is missing" in lines[-1]


def test_add_says_what_those_days_had_and_what_looks_odd_about_the_new_row_only(frontier, tmp_path):
    file = book(tmp_path, BOOK + "b300,retail,9,2020-01-01,2021-01-01,x\nb300,retail,1,2022-01-01,,x\n")
    code, said, lines = frontier(*add("0.5", "--from", "2026-05-01", "--to", "2026-06-01"))
    assert code == 0
    assert "added h100/retail/2026-05-01 until 2026-06-01: 0.50 USD/GPU/h" in said
    assert "until now those days had 2.00 USD/GPU/h, h100/retail/2026-03-18" in said
    assert sum("0.25 times as much" in line for line in lines) == 1
    assert sum("is below h100/neocloud/2026-03-18" in line for line in lines) == 1
    assert not any("b300" in line for line in lines)
    assert "h100,retail,0.5,2026-05-01,2026-06-01,quote\n" in file.read_text()


def test_a_price_before_the_first_one_is_added(frontier, tmp_path):
    file = book(tmp_path)
    assert frontier(*add("2.1", "--from", "2026-01-01"))[0] == 0
    assert file.read_text() == BOOK + "h100,retail,2.1,2026-01-01,2026-03-18,quote\n"


def test_correct_marks_the_row_and_list_shows_both(frontier, tmp_path):
    file = book(tmp_path)
    arguments = ("2.2", "--from", "2026-03-18", "--source", "invoice", "--reason", "per node", "--no-publish")
    code, said, _ = frontier("prices", "correct", "h100", "retail", *arguments)
    today = dt.datetime.now(dt.UTC).date()
    assert code == 0
    assert "corrected h100/retail/2026-03-18 until 2026-07-31: 2.20 USD/GPU/h, was 2.00" in said
    assert f"h100,retail,2.00,2026-03-18,2026-07-31,a,,{today},per node\n" in file.read_text()
    _, listed, _ = frontier("prices", "list", "h100")
    assert f"no longer said since {today}: per node" in listed
    assert f"said since {today}" in listed
    rows = json.loads(frontier("prices", "list", "h100", "--json")[1])
    assert [row["usd_per_gpu_hour"] for row in rows if row["corrected_on"]] == [2.0]
    code, _, lines = frontier("prices", "correct", "h100", "retail", "3", *arguments[1:2], "2026-03-19", *arguments[3:])
    assert code == 1
    assert "no price of h100, retail begins on 2026-03-19; expected 2026-03-18" in lines[-1]


CORRECT = ("prices", "correct", "h100", "retail", "2.00", "--from", "2026-03-18", "--reason", "a slip", "--no-publish")


def test_a_correction_of_the_source_alone_says_that_costs_stay(frontier, tmp_path):
    book(tmp_path)
    code, said, _ = frontier(*CORRECT, "--source", "invoice")
    assert code == 0
    assert "2.00 USD/GPU/h, only its source changes (was a) and every cost stays as it is; the old row stays" in said


def test_the_first_day_of_a_price_is_corrected_and_the_row_before_ends_there(frontier, tmp_path):
    file = book(tmp_path, BOOK + "h100,retail,1.50,2026-01-01,2026-03-18,a\n")
    code, said, _ = frontier(*CORRECT, "--source", "a", "--new-from", "2026-03-20")
    today = dt.datetime.now(dt.UTC).date()
    assert code == 0
    assert "corrected h100/retail/2026-03-20 until 2026-07-31: 2.00 USD/GPU/h, was from 2026-03-18; the old" in said
    assert "h100/retail/2026-01-01 holds until 2026-03-20 now; it stays as it was, too" in said
    assert f"h100,retail,2,2026-03-20,2026-07-31,a,{today},,\n" in file.read_text()
    text = file.read_text()
    code, _, lines = frontier(*CORRECT, "--source", "a", "--new-from", "2062-03-20")
    assert code == 1
    assert "--new-from 2062-03-20: no price begins on that day" in lines[-1]
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("usd", "first_day", "more", "words"),
    [
        ("2", "0001-01-01", (), "--from 0001-01-01: no price begins on that day; expected 2020-01-01 to 20"),
        ("2", "9999-12-31", (), "--from 9999-12-31: no price begins on that day"),
        ("2", "", (), "--from '': not a day"),
        ("0", "2026-05-01", (), "USD_PER_GPU_HOUR 0: not a price; expected more than 0 and at most 1,000 USD"),
        ("nan", "2026-05-01", (), "USD_PER_GPU_HOUR nan: not a price"),
        ("2", "2026-05-01", ("--source", " "), "--source: not one line of text"),
    ],
)
def test_what_was_typed_wrong_is_named_as_it_was_typed_and_changes_nothing(
    frontier, tmp_path, usd, first_day, more, words
):
    file = book(tmp_path)
    code, _, lines = frontier(*add(usd, "--from", first_day), *more)
    assert code == 1
    assert words in lines[-1]
    assert file.read_text() == BOOK


def test_a_correction_without_a_reason_or_to_what_the_row_says_already_is_refused(frontier, tmp_path):
    file = book(tmp_path)
    same = ("prices", "correct", "h100", "retail", "2.00", "--from", "2026-03-18", "--source", "a", "--no-publish")
    assert "error: --reason: not one line of text" in frontier(*same, "--reason", " ")[2][-1]
    assert "prices.csv line 3: the row says that already" in frontier(*same, "--reason", "a slip")[2][-1]
    assert file.read_text() == BOOK


INPUTS = {
    "server_capital_usd_gpu": 35040.0, "network_capital_usd_gpu": 0.0, "life_years": 4.0,
    "cost_of_capital_share_year": 0.0, "maintenance_share_year": 0.0, "colocation_usd_kw_month": 0.0,
    "all_in_power_kw_gpu": 1.0, "power_usd_kwh": 0.0, "pue": 1.0, "utilisation_share": 0.5,
}  # fmt: skip


def test_tco_shows_parts_and_inputs_or_says_that_there_are_none(frontier, tmp_path):
    book(tmp_path)
    assert "tco.toml has no inputs: no price is computed." in frontier("prices", "tco")[1]
    lines = [f"{key} = {{ value = {value}, as_of = 2026-01-01, source = 'bill' }}\n" for key, value in INPUTS.items()]
    (tmp_path / "tco.toml").write_text("[h100]\n" + "".join(lines))
    code, said, _ = frontier("prices", "tco", "h100")
    assert code == 0
    assert "h100 from 2026-01-01: 2 USD/GPU/h that serves, computed" in said
    assert "Capital, interest included │ 1.0000 │ USD/GPU/h" in said
    assert said.count("bill") == 10
    assert "has no inputs of b300" in frontier("prices", "tco", "b300")[1]
