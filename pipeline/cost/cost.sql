-- Every reading at every price that held, and was not corrected yet, on or after the day of its run.
--
-- grain    one reading of one curve priced by one price row
-- in       cost_readings: READINGS
--          cost_prices: PRICES
-- columns  COSTS: usd_mtok_* in USD per million tokens, usd_per_gpu_hour in USD/GPU/h, throughput in tok/s/GPU
-- order    curve_id, reading, target_tok_s_user, tier, valid_from; applied by the runner
--
-- USD per million tokens = rate x 1e6 / (throughput x 3600). Each kind divides all dollars by its own tokens; a kind
-- without a positive throughput has no cost. A reading without a throughput has no row.
SELECT
    curve_id, series_key, model, readings.gpu, workload, engine, precision, disaggregated, multinode, kv_offload,
    spec_method, provenance, engine_family, speculative, run_id, run_date, run_started_at,
    reading, target_tok_s_user, throughput_tok_s_gpu,
    price_id, tier, usd_per_gpu_hour, valid_from, valid_to, source, recorded_on, corrected_on,
    usd_per_gpu_hour * 1000000 / (throughput_tok_s_gpu * 3600) AS usd_mtok_total,
    CASE
        WHEN computed_input_throughput_tok_s_gpu > 0
            THEN usd_per_gpu_hour * 1000000 / (computed_input_throughput_tok_s_gpu * 3600)
    END AS usd_mtok_computed_input,
    CASE
        WHEN output_throughput_tok_s_gpu > 0
            THEN usd_per_gpu_hour * 1000000 / (output_throughput_tok_s_gpu * 3600)
    END AS usd_mtok_output,
    cache_hit_share
FROM cost_readings AS readings
JOIN cost_prices AS prices
    ON prices.gpu = readings.gpu
    AND (prices.valid_to IS NULL OR prices.valid_to > readings.run_date)
    AND (prices.corrected_on IS NULL OR prices.corrected_on > readings.run_date)
WHERE throughput_tok_s_gpu > 0
