-- The newest runs of every series, read at the speed targets, with the evidence of each reading.
--
-- grain    one curve at one speed target under the reading at_least
-- in       all_readings: READINGS of any number of runs and days
--          newest_knots: KNOTS of the newest curve of every series
--          all_points: POINTS of any number of runs and days
--          $n_runs: how many runs of a series; $n_whole_runs: how many of them at every target, the others at $primary
-- columns  HISTORY: speeds in tok/s/user, throughputs in tok/s/GPU
-- order    curve_id, target_tok_s_user; applied by the runner
--
-- The spread of a reading is the largest relative standard deviation of the points that bracket it, times the
-- reading; it is null where one of them was not repeated.
WITH ranked AS (
    SELECT
        *,
        dense_rank() OVER (
            PARTITION BY series_key ORDER BY run_date DESC, run_started_at DESC NULLS LAST, run_id DESC
        ) AS run_rank
    FROM all_readings
    WHERE reading = 'at_least'
),

read AS (
    SELECT * EXCLUDE (run_rank)
    FROM ranked
    WHERE run_rank <= $n_runs AND (run_rank <= $n_whole_runs OR target_tok_s_user = $primary)
),

evidence AS (
    SELECT
        curve_id,
        target_tok_s_user,
        list_sort(list_distinct(list(points.engine_build))) AS engine_builds,
        list_sort(list_distinct(list(points.topology))) AS topologies,
        CASE WHEN count(*) = count(points.n_repeats) THEN min(points.n_repeats) END AS n_repeats,
        CASE
            WHEN count(*) = count(points.throughput_std_tok_s_gpu) AND min(points.n_repeats) > 1
                THEN max(points.throughput_std_tok_s_gpu / points.throughput_tok_s_gpu)
        END AS relative_std
    FROM (SELECT curve_id, target_tok_s_user, unnest(point_ids) AS point_id FROM read) AS used
    JOIN all_points AS points USING (point_id)
    GROUP BY curve_id, target_tok_s_user
)

SELECT
    read.*,
    curve_id IN (SELECT curve_id FROM newest_knots) AS in_use,
    coalesce(engine_builds, []) AS engine_builds,
    coalesce(topologies, []) AS topologies,
    n_repeats,
    relative_std * throughput_tok_s_gpu AS throughput_std_tok_s_gpu
FROM read
LEFT JOIN evidence USING (curve_id, target_tok_s_user)
