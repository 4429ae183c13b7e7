"""One query from the raw rows to every ladder and cost of the site: the project's own SQL files, one after the other.

It is published as data/recompute.sql, explained on the data page, and tested against every page.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from pipeline.frontier.queries import sql_text
from pipeline.frontier.targets import TARGETS_TOK_S_USER

RECOMPUTE_FILE = "recompute.sql"

_HEAD = """\
-- Every reading and every cost of this site, from the raw rows and the price book: points.parquet and prices.parquet.
-- Run it with DuckDB in the folder of these two files:   duckdb -c ".read recompute.sql"
-- One row is one model, GPU, workload and provenance at one speed target under one reading, at one price tier.
-- Each step is one file of the pipeline, unchanged.
WITH points AS (SELECT * FROM 'points.parquet'),
"""

_TAIL = """\
SELECT across_rows.*, tier, price_id, usd_per_gpu_hour,
    usd_per_gpu_hour * 1000000 / (throughput_tok_s_gpu * 3600) AS usd_mtok_total,
    usd_per_gpu_hour * 1000000 / (nullif(computed_input_throughput_tok_s_gpu, 0) * 3600) AS usd_mtok_computed_input,
    usd_per_gpu_hour * 1000000 / (nullif(output_throughput_tok_s_gpu, 0) * 3600) AS usd_mtok_output
FROM across_rows
LEFT JOIN 'prices.parquet' AS prices
    ON prices.gpu = across_rows.gpu
    AND throughput_tok_s_gpu IS NOT NULL
    AND valid_from <= DATE '{as_of}'
    AND (valid_to IS NULL OR (valid_to > DATE '{as_of}' AND valid_to > run_date))
    AND {known}
ORDER BY model, across_rows.gpu, workload, provenance, reading, target_tok_s_user, tier
"""


def recompute_sql(as_of: dt.date, agentic: Iterable[str], corrections_until: dt.date | None = None) -> str:
    """The query with prices as of a day. ``agentic`` are the workloads without the speculative method in the series.

    Corrections of prices made after ``corrections_until`` are left out; None: none is.
    """
    workloads = ", ".join(f"'{slug}'" for slug in sorted(agentic))
    targets = ", ".join(f"{float(target)}" for target in TARGETS_TOK_S_USER)
    pareto = sql_text("pipeline.frontier", "pareto.sql").replace("$agentic::", f"[{workloads}]::")
    ladder = sql_text("pipeline.frontier", "ladder.sql").replace("$targets::", f"[{targets}]::")
    steps = {
        "all_knots": pareto,
        "newest_knots": sql_text("pipeline.frontier", "newest.sql"),
        "ladder_knots": "SELECT * FROM newest_knots\n",
        "across_readings": ladder,
        "across_rows": sql_text("pipeline.frontier", "across.sql"),
    }
    body = ",\n".join(f"{name} AS (\n{sql})" for name, sql in steps.items())
    return f"{_HEAD}{body}\n{_TAIL.format(as_of=as_of, known=_known(corrections_until))}"


def _known(day: dt.date | None) -> str:
    if day is None:
        return "corrected_on IS NULL"
    return (
        f"(recorded_on IS NULL OR recorded_on <= DATE '{day}')\n"
        f"    AND (corrected_on IS NULL OR (corrected_on > DATE '{day}' AND corrected_on > run_date))"
    )
