-- The newest curve of every series: what a page may read.
--
-- grain    one frontier point of the newest curve of one series
-- in       all_knots: KNOTS of any number of runs and days
-- columns  KNOTS, unchanged
-- order    curve_id, knot_index; applied by the runner
--
-- Newest: the latest run date, then the latest start (an unknown start is older than any known one), then the last
-- run id in the order of its text.
SELECT *
FROM all_knots
QUALIFY curve_id = first_value(curve_id) OVER (
    PARTITION BY series_key
    ORDER BY run_date DESC, run_started_at DESC NULLS LAST, run_id DESC
)
