-- The Pareto frontier of every curve, with Steffen slopes.
--
-- grain    one frontier point of one curve; a curve is one series of one run on one day
-- in       points: the POINTS columns (a view over Parquet files, or an Arrow table)
--          $agentic: workload slugs whose series does not contain the speculative method
-- columns  KNOTS: interactivity in tok/s/user (x), throughputs in tok/s/GPU (y), slope in tok/s/GPU per tok/s/user,
--          cache_hit_share as a share of 1
-- order    curve_id, knot_index; applied by the runner
--
-- A point is usable when it is valid and x and y are positive and finite. Of equal identity in one run the highest
-- attempt among the usable rows stands, so a failed retry never replaces a pass; null equals null. For equal x the
-- largest y stays, for equal x and y the smallest point_id. A point falls out when another one is at least as fast
-- and serves at least as much.
WITH standing AS (
    SELECT DISTINCT ON (
        model, gpu, workload, engine, precision, disaggregated, multinode, kv_offload, spec_method, provenance,
        engine_build, input_len_tok, output_len_tok, topology, concurrency, request_rate_req_s, run_date, run_id
    )
        model, gpu, workload, engine, precision, disaggregated, multinode, kv_offload, spec_method, provenance,
        engine_family, run_id, run_date, run_started_at, point_id,
        interactivity_tok_s_user AS x,
        throughput_tok_s_gpu AS y,
        output_throughput_tok_s_gpu, computed_input_throughput_tok_s_gpu, cache_hit_share
    FROM points
    WHERE valid
        AND isfinite(interactivity_tok_s_user) AND interactivity_tok_s_user > 0
        AND isfinite(throughput_tok_s_gpu) AND throughput_tok_s_gpu > 0
    ORDER BY attempt DESC, point_id
),

keyed AS (
    SELECT
        *,
        concat_ws(
            '|', model, gpu, workload, engine, coalesce(precision, ''), coalesce(disaggregated::VARCHAR, ''),
            coalesce(multinode::VARCHAR, ''), coalesce(kv_offload, ''),
            CASE WHEN list_contains($agentic::VARCHAR[], workload) THEN '' ELSE coalesce(spec_method, '') END,
            provenance
        ) AS series_key
    FROM standing
),

named AS (
    SELECT *, concat_ws('|', series_key, run_date::VARCHAR, run_id) AS curve_id
    FROM keyed
),

counted AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY curve_id) AS n_points,
        max(y) OVER (
            PARTITION BY curve_id
            ORDER BY x DESC, y DESC, point_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS best_y_of_faster
    FROM named
),

-- The frontier, with what the whole curve says, and with the two knots on either side.
neighbours AS (
    SELECT
        *,
        row_number() OVER along AS knot_number,
        count(*) OVER whole AS n_knots,
        count(spec_method) OVER whole AS n_spec_methods,
        min(spec_method) OVER whole AS first_spec_method,
        max(spec_method) OVER whole AS last_spec_method,
        bool_or(coalesce(spec_method, 'none') <> 'none') OVER whole AS speculative,
        min(engine_family) OVER whole AS curve_engine_family,
        min(run_started_at) OVER whole AS curve_started_at,
        lag(x, 2) OVER along AS x_2before,
        lag(y, 2) OVER along AS y_2before,
        lag(x) OVER along AS x_before,
        lag(y) OVER along AS y_before,
        lead(x) OVER along AS x_after,
        lead(y) OVER along AS y_after,
        lead(x, 2) OVER along AS x_2after,
        lead(y, 2) OVER along AS y_2after
    FROM counted
    WHERE best_y_of_faster IS NULL OR y > best_y_of_faster
    WINDOW
        whole AS (PARTITION BY curve_id),
        along AS (PARTITION BY curve_id ORDER BY x)
),

-- Interval a and interval b meet at an interior knot: at this one, or for an end knot at its only neighbour.
intervals AS (
    SELECT
        *,
        CASE knot_number WHEN 1 THEN x_after - x WHEN n_knots THEN x_before - x_2before ELSE x - x_before END AS h_a,
        CASE knot_number WHEN 1 THEN y_after - y WHEN n_knots THEN y_before - y_2before ELSE y - y_before END AS rise_a,
        CASE knot_number WHEN 1 THEN x_2after - x_after WHEN n_knots THEN x - x_before ELSE x_after - x END AS h_b,
        CASE knot_number WHEN 1 THEN y_2after - y_after WHEN n_knots THEN y - y_before ELSE y_after - y END AS rise_b
    FROM neighbours
),

secants AS (
    SELECT *, rise_a / h_a AS s_a, rise_b / h_b AS s_b FROM intervals
),

-- p = (s_a h_b + s_b h_a) / (h_a + h_b), slope = (sign s_a + sign s_b) min(|s_a|, |s_b|, |p| / 2)
interior AS (
    SELECT
        *,
        (sign(s_a) + sign(s_b)) * least(abs(s_a), abs(s_b), 0.5 * abs((s_a * h_b + s_b * h_a) / (h_a + h_b))) AS m
    FROM secants
)

SELECT
    curve_id, series_key, model, gpu, workload, engine, precision, disaggregated, multinode, kv_offload,
    -- Of an agentic curve only where all knots agree: there the method belongs to the point, not to the series.
    CASE WHEN n_spec_methods = n_knots AND first_spec_method = last_spec_method THEN spec_method END AS spec_method,
    provenance,
    curve_engine_family AS engine_family,
    speculative, run_id, run_date,
    curve_started_at AS run_started_at,
    n_points,
    knot_number - 1 AS knot_index,
    x AS interactivity_tok_s_user,
    y AS throughput_tok_s_gpu,
    -- Ends: (3 s - neighbouring slope) / 2. Two knots: the chord. One knot: none.
    CASE
        WHEN n_knots = 2 THEN coalesce(s_a, s_b)
        WHEN knot_number = 1 THEN (3 * s_a - m) / 2
        WHEN knot_number = n_knots THEN (3 * s_b - m) / 2
        ELSE m
    END AS slope,
    output_throughput_tok_s_gpu, computed_input_throughput_tok_s_gpu, cache_hit_share, point_id
FROM interior
