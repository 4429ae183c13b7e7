-- The best series at every speed target, by both readings.
--
-- grain    one model, GPU, workload and provenance at one speed target under one reading
-- in       newest_knots: KNOTS of the newest curve of every series
--          across_readings: READINGS of those curves, and of older ones, which are ignored
-- columns  ACROSS: speeds in tok/s/user, throughputs in tok/s/GPU, cache_hit_share as a share of 1
-- order    model, gpu, workload, provenance, reading, target_tok_s_user; applied by the runner
--
-- at_least   F(t): the largest throughput of any series.
-- at_target  the order of the reference pages: speculative fp4, speculative fp8, plain fp4, plain fp8, of vLLM- and
--            SGLang-family engines only; inside the first of these that has a value, the largest throughput.
-- Ties in both: the freshest run date, then the first series key. Without a value there is no engine on the row.
WITH newest AS (
    SELECT
        curve_id,
        min(interactivity_tok_s_user) AS slowest_x,
        max(interactivity_tok_s_user) AS fastest_x
    FROM newest_knots
    GROUP BY curve_id
),

candidates AS (
    SELECT
        across_readings.*,
        CASE
            WHEN reading = 'at_least' THEN true
            ELSE engine_family IN ('vllm', 'sglang') AND coalesce(precision, '') IN ('fp4', 'fp8')
        END AS eligible,
        CASE
            WHEN NOT eligible OR throughput_tok_s_gpu IS NULL THEN NULL
            WHEN reading = 'at_least' THEN 0
            ELSE CASE WHEN speculative THEN 0 ELSE 2 END + CASE WHEN precision = 'fp4' THEN 0 ELSE 1 END
        END AS bucket,
        CASE WHEN eligible THEN slowest_x END AS slowest_x,
        CASE WHEN eligible THEN fastest_x END AS fastest_x
    FROM across_readings
    JOIN newest USING (curve_id)
),

best AS (
    SELECT
        * EXCLUDE (slowest_x, fastest_x),
        min(slowest_x) OVER cell AS slowest_x,
        max(fastest_x) OVER cell AS fastest_x,
        bucket IS NOT NULL AS served
    FROM candidates
    WINDOW cell AS (PARTITION BY model, gpu, workload, provenance, reading, target_tok_s_user)
    QUALIFY row_number() OVER (
        PARTITION BY model, gpu, workload, provenance, reading, target_tok_s_user
        ORDER BY bucket NULLS LAST, throughput_tok_s_gpu DESC NULLS LAST, run_date DESC, series_key
    ) = 1
)

SELECT
    model, gpu, workload, provenance, reading, target_tok_s_user,
    CASE WHEN served THEN throughput_tok_s_gpu END AS throughput_tok_s_gpu,
    CASE WHEN served THEN delivered_tok_s_user END AS delivered_tok_s_user,
    CASE WHEN served THEN basis ELSE 'unreachable' END AS basis,
    CASE
        WHEN served THEN NULL
        WHEN reading = 'at_least' THEN format(
            'No series reaches {:g} tok/s/user: the fastest frontier point runs at {:.1f}.',
            target_tok_s_user, fastest_x
        )
        WHEN fastest_x IS NULL THEN 'No series of a vLLM or SGLang engine at fp4 or fp8 was run.'
        WHEN target_tok_s_user < slowest_x THEN format(
            'No vLLM or SGLang series at fp4 or fp8 has a frontier point at or below {:g} tok/s/user: '
            || 'the slowest one runs at {:.1f}.', target_tok_s_user, slowest_x
        )
        WHEN target_tok_s_user > fastest_x THEN format(
            'No vLLM or SGLang series at fp4 or fp8 reaches {:g} tok/s/user: '
            || 'the fastest frontier point runs at {:.1f}.', target_tok_s_user, fastest_x
        )
        ELSE format(
            'No vLLM or SGLang series at fp4 or fp8 has frontier points on both sides of {:g} tok/s/user.',
            target_tok_s_user
        )
    END AS reason,
    CASE WHEN served THEN engine END AS engine,
    CASE WHEN served THEN engine_family END AS engine_family,
    CASE WHEN served THEN precision END AS precision,
    CASE WHEN served THEN spec_method END AS spec_method,
    CASE WHEN served THEN curve_id END AS curve_id,
    CASE WHEN served THEN run_date END AS run_date,
    CASE WHEN served THEN output_throughput_tok_s_gpu END AS output_throughput_tok_s_gpu,
    CASE WHEN served THEN computed_input_throughput_tok_s_gpu END AS computed_input_throughput_tok_s_gpu,
    CASE WHEN served THEN cache_hit_share END AS cache_hit_share,
    CASE WHEN served THEN point_ids ELSE []::VARCHAR[] END AS point_ids
FROM best
