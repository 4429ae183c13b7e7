-- The raw rows that a page stands on: every point, valid or not, of the newest run of every series.
--
-- grain    one point
-- in       all_points: POINTS of any number of runs and days
--          newest_knots: KNOTS of the newest valid curve of every series
-- columns  POINTS, unchanged
-- order    model, workload, engine, precision, topology, concurrency, point_id
--
-- A series that has a valid curve shows the run of that curve. One that has none shows its newest run, so that its
-- invalid points and their reasons are seen. Identity columns are compared with null equal to null.
WITH keyed AS (
    SELECT
        *,
        concat_ws(
            '|', model, gpu, workload, engine, coalesce(precision, ''), coalesce(disaggregated::VARCHAR, ''),
            coalesce(multinode::VARCHAR, ''), coalesce(kv_offload, ''),
            CASE WHEN list_contains($agentic::VARCHAR[], workload) THEN '' ELSE coalesce(spec_method, '') END, provenance
        ) AS series_key
    FROM all_points
),

shown AS (
    SELECT DISTINCT series_key, run_date, run_id FROM newest_knots
),

newest_run AS (
    SELECT series_key, run_date, run_id
    FROM keyed
    WHERE series_key NOT IN (SELECT series_key FROM shown)
    QUALIFY row_number() OVER (
        PARTITION BY series_key ORDER BY run_date DESC, run_started_at DESC NULLS LAST, run_id DESC
    ) = 1
)

SELECT keyed.* EXCLUDE (series_key)
FROM keyed
JOIN (SELECT * FROM shown UNION ALL SELECT * FROM newest_run) AS runs USING (series_key, run_date, run_id)
ORDER BY model, workload, engine, precision, topology, concurrency, point_id
