import duckdb
import pyarrow.parquet as pq
import pytest

from pipeline.pages.build import build_sections
from pipeline.pages.recompute import ladder_command, ladder_sql
from tests.unit.pages.pairs import h100_rows, pair_of, point

CASES = {
    "two series": h100_rows(),
    "one knot": [point(60.0, 5000.0)],
    "two knots": [point(40.0, 10800.0), point(60.0, 7200.0)],
    "an older run": [
        *h100_rows(),
        point(75.0, 99999.0, point_id="old", run_id="run_old", run_date=h100_rows()[0]["run_date"]),
    ],
}


@pytest.mark.parametrize("rows", CASES.values(), ids=CASES)
def test_the_command_of_the_page_gives_every_number_of_its_ladder(rows, tmp_path, connection):
    pair = pair_of(rows)
    (page,) = build_sections(pair)
    pq.write_table(pair.points, tmp_path / "points.parquet")
    pq.write_table(pair.knots, tmp_path / "frontier.parquet")
    found = connection.sql(ladder_sql(page, f"{tmp_path}/")).fetchall()
    reachable = [row for row in page.ladder if row.at_least.throughput_tok_s_gpu is not None]
    assert [row[0] for row in found] == [row.target_tok_s_user for row in reachable]
    for (_, tokens, owning, retail), row in zip(found, reachable, strict=True):
        assert tokens == pytest.approx(row.at_least.throughput_tok_s_gpu, rel=1e-12)
        costs = row.at_least.cost_usd_mtok
        assert (owning, retail) == pytest.approx((costs["owning_hyperscaler"], costs["retail"]), rel=1e-12)


def test_the_command_has_no_character_that_a_shell_would_read_inside_quotes():
    (page,) = build_sections(pair_of(h100_rows()))
    command = ladder_command(page, "https://example.org/")
    assert command.startswith('duckdb -c "')
    assert not set('"$`\\!') & set(command[len('duckdb -c "') : -1])
    assert "'https://example.org/data/points.parquet'" in command
    assert duckdb.extract_statements(command[len('duckdb -c "') : -1])
