-- Every curve read at every speed target, by both readings.
--
-- grain    one curve at one speed target under one reading
-- in       ladder_knots: KNOTS
--          $targets: speeds in tok/s/user
-- columns  READINGS: speeds in tok/s/user, throughputs in tok/s/GPU, cache_hit_share as a share of 1
-- order    curve_id, reading, target_tok_s_user; applied by the runner
--
-- at_least   the target is a minimum: below the slowest knot that knot serves it (faster_config), on a knot the knot
--            (measured), between two knots the monotone cubic (interpolated), above the fastest knot nothing.
-- at_target  the reading of the reference pages: a value only from the slowest to the fastest knot, two-knot curves
--            with slopes 1.5 s and 0.75 s, rounded to 3 decimals.
-- Between two knots the output share, the computed-input share and the cache share are linear in x and multiply the
-- reading's throughput: an estimate, null where either knot does not say.
WITH segments AS (
    SELECT
        *,
        interactivity_tok_s_user AS x,
        throughput_tok_s_gpu AS y,
        output_throughput_tok_s_gpu / throughput_tok_s_gpu AS output_share,
        computed_input_throughput_tok_s_gpu / throughput_tok_s_gpu AS computed_input_share,
        count(*) OVER (PARTITION BY curve_id) AS n_knots,
        lead(x) OVER along AS next_x,
        lead(y) OVER along AS next_y,
        lead(slope) OVER along AS next_slope,
        lead(output_share) OVER along AS next_output_share,
        lead(computed_input_share) OVER along AS next_computed_input_share,
        lead(cache_hit_share) OVER along AS next_cache_hit_share,
        lead(point_id) OVER along AS next_point_id
    FROM ladder_knots
    WINDOW along AS (PARTITION BY curve_id ORDER BY knot_index)
),

-- Exactly one knot a curve and target: the last one that is not faster than the target, or else the slowest one.
located AS (
    SELECT
        *,
        CASE WHEN t < x THEN 'below' WHEN t = x THEN 'on' WHEN next_x IS NULL THEN 'above' ELSE 'inside' END AS place
    FROM segments
    CROSS JOIN unnest($targets::DOUBLE[]) AS targets(t)
    WHERE (x <= t AND (next_x IS NULL OR t < next_x)) OR (knot_index = 0 AND t < x)
),

sloped AS (
    SELECT
        * EXCLUDE (slope, next_slope),
        readings.reading,
        -- The reference computes the ends of a two-knot curve one after the other, from slopes that start at 0.
        CASE WHEN readings.reading = 'at_target' AND n_knots = 2 THEN 1.5 * slope ELSE slope END AS m,
        CASE WHEN readings.reading = 'at_target' AND n_knots = 2 THEN 0.75 * slope ELSE next_slope END AS next_m,
        CASE WHEN place = 'inside' THEN next_x - x END AS h,
        CASE WHEN place = 'inside' THEN (t - x) / (next_x - x) ELSE 0 END AS u
    FROM located
    CROSS JOIN (VALUES ('at_least'), ('at_target')) AS readings(reading)
),

read AS (
    SELECT
        *,
        place = 'above' OR (place = 'below' AND reading = 'at_target') AS outside,
        CASE
            WHEN outside THEN NULL
            WHEN place <> 'inside' THEN y
            ELSE greatest(next_y, least(y, (
                (1 + 2 * u) * (1 - u) * (1 - u) * y + u * (1 - u) * (1 - u) * h * m
                + u * u * (3 - 2 * u) * next_y - u * u * (1 - u) * h * next_m
            )))
        END AS exact_y,
        CASE WHEN reading = 'at_target' THEN round(exact_y, 3) ELSE exact_y END AS read_y
    FROM sloped
)

SELECT
    curve_id, series_key, model, gpu, workload, engine, precision, disaggregated, multinode, kv_offload, spec_method,
    provenance, engine_family, speculative, run_id, run_date, run_started_at,
    reading,
    t AS target_tok_s_user,
    read_y AS throughput_tok_s_gpu,
    CASE WHEN outside THEN NULL WHEN place = 'below' THEN x ELSE t END AS delivered_tok_s_user,
    CASE
        WHEN outside THEN 'unreachable'
        WHEN place = 'below' THEN 'faster_config'
        WHEN place = 'on' THEN 'measured'
        ELSE 'interpolated'
    END AS basis,
    CASE
        WHEN outside AND place = 'below' THEN format(
            'below_measured_range: the slowest frontier point of this curve runs at {:.1f} tok/s/user, '
            || 'above the target of {:g}', x, t
        )
        WHEN outside THEN format(
            'above_measured_range: the fastest frontier point of this curve runs at {:.1f} tok/s/user, '
            || 'below the target of {:g}', x, t
        )
    END AS reason,
    CASE
        WHEN outside THEN NULL
        WHEN place = 'inside' THEN read_y * (output_share + u * (next_output_share - output_share))
        ELSE output_throughput_tok_s_gpu
    END AS output_throughput_tok_s_gpu,
    CASE
        WHEN outside THEN NULL
        WHEN place = 'inside'
            THEN read_y * (computed_input_share + u * (next_computed_input_share - computed_input_share))
        ELSE computed_input_throughput_tok_s_gpu
    END AS computed_input_throughput_tok_s_gpu,
    CASE
        WHEN outside THEN NULL
        WHEN place = 'inside' THEN cache_hit_share + u * (next_cache_hit_share - cache_hit_share)
        ELSE cache_hit_share
    END AS cache_hit_share,
    CASE
        WHEN outside THEN []::VARCHAR[]
        WHEN place = 'inside' THEN [point_id, next_point_id]
        ELSE [point_id]
    END AS point_ids
FROM read
