"""The command that recomputes a ladder from the downloads. The rules are pipeline/frontier's; this is their short form.

It reads the raw rows for speeds and throughputs and the frontier file for the slopes, so a reader needs two files and
DuckDB and none of this project.
"""

from __future__ import annotations

from pipeline.pages.page import Page

_SQL = """\
WITH knots AS (
  SELECT f.curve_id, f.knot_index, f.slope AS m0, p.interactivity_tok_s_user AS x0, p.throughput_tok_s_gpu AS y0
  FROM '{data}frontier.parquet' AS f JOIN '{data}points.parquet' AS p USING (point_id)
  WHERE f.model = '{model}' AND f.gpu = '{gpu}' AND f.workload = '{workload}' AND f.provenance = '{provenance}'
  QUALIFY f.curve_id = first_value(f.curve_id) OVER (PARTITION BY f.series_key
    ORDER BY f.run_date DESC, f.run_started_at DESC NULLS LAST, f.run_id DESC)
), pieces AS (
  SELECT *, lead(x0) OVER w AS x1, lead(y0) OVER w AS y1, lead(m0) OVER w AS m1
  FROM knots WINDOW w AS (PARTITION BY curve_id ORDER BY knot_index)
), located AS (
  SELECT *, x1 - x0 AS h, (t - x0) / (x1 - x0) AS u
  FROM pieces, unnest([{targets}]) AS targets(t) WHERE t <= x0 OR t < x1
), readings AS (
  SELECT t, max(CASE WHEN t <= x0 THEN y0 ELSE greatest(y1, least(y0, (1 + 2*u) * (1-u)**2 * y0
    + u * (1-u)**2 * h * m0 + u**2 * (3 - 2*u) * y1 - u**2 * (1-u) * h * m1)) END) AS tok_s_gpu
  FROM located GROUP BY t
)
SELECT t AS target_tok_s_user, tok_s_gpu{cost}
FROM readings ORDER BY t"""


def ladder_sql(page: Page, data: str) -> str:
    """SQL whose rows are the reachable targets of the ladder: target, tok/s/GPU, and USD per million at each tier.

    ``data`` is where the Parquet files lie: a folder or an address, with its last slash.
    """
    costs = "".join(
        f",\n  {cost.usd_per_gpu_hour} * 1e6 / (tok_s_gpu * 3600) AS usd_mtok_{cost.tier}" for cost in page.costs
    )
    return _SQL.format(
        data=data.replace("'", "''"),
        model=page.model.slug,
        gpu=page.gpu.slug,
        workload=page.workload.slug,
        provenance=page.provenance,
        targets=", ".join(f"{row.target_tok_s_user:.1f}" for row in page.ladder),
        cost=costs,
    )


def ladder_command(page: Page, base_url: str | None) -> str:
    """The SQL as a command for a shell, over the site's address, or over its folder where the address is not known."""
    sql = ladder_sql(page, f"{base_url or ''}data/")
    return f'duckdb -c "{sql}"'
