-- The Pareto frontier over all series of one model, GPU, workload and provenance.
--
-- grain    one frontier point that no series dominates
-- in       newest_knots: KNOTS of the newest curve of every series
-- columns  KNOTS, unchanged: knot_index and slope are those of the point's own curve
-- order    curve_id, knot_index; applied by the runner
--
-- Of equal speed and throughput the freshest run date stays, then the first series key.
SELECT * EXCLUDE (best_throughput_of_faster)
FROM (
    SELECT
        *,
        max(throughput_tok_s_gpu) OVER (
            PARTITION BY model, gpu, workload, provenance
            ORDER BY interactivity_tok_s_user DESC, throughput_tok_s_gpu DESC, run_date DESC, series_key
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS best_throughput_of_faster
    FROM newest_knots
)
WHERE best_throughput_of_faster IS NULL OR throughput_tok_s_gpu > best_throughput_of_faster
