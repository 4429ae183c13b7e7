-- Grain: one row a point_id of REQUESTS, over its requests with phase = 'profiling'.
-- Columns: counts by outcome [count]; input_tok, output_tok, cached_input_tok of successful requests [tok];
--   first_start_ns, last_end_ns of all requests of the phase [ns]; mean, std (population) and the linearly
--   interpolated p50 p75 p90 p95 p99 of ttft, tpot, e2el over successful requests [s].
-- A statistic without a value is null. Order: none; the runner sorts.
-- TPOT = (e2el - ttft) / (output_tok - first_chunk_tok), null for fewer than two output tokens.
-- One pass over narrow columns; ITL lists are wide and have their own query (summary_itl.sql).
WITH timed AS (
  SELECT
    point_id,
    outcome,
    start_ns,
    e2el_ns,
    CASE WHEN outcome = 'ok' THEN input_tok END AS input_tok,
    CASE WHEN outcome = 'ok' THEN output_tok END AS output_tok,
    CASE WHEN outcome = 'ok' THEN cached_input_tok END AS cached_input_tok,
    CASE WHEN outcome = 'ok' THEN ttft_ns / 1e9 END AS ttft_s,
    CASE WHEN outcome = 'ok' THEN e2el_ns / 1e9 END AS e2el_s,
    CASE
      WHEN outcome = 'ok' AND output_tok >= 2 AND output_tok > coalesce(first_chunk_tok, 1)
      THEN (e2el_ns - ttft_ns) / 1e9 / (output_tok - coalesce(first_chunk_tok, 1))
    END AS tpot_s
  FROM {requests}
  WHERE phase = 'profiling'
)
SELECT
  point_id,
  count(*) AS n_requested,
  count_if(outcome = 'ok') AS n_successful,
  count_if(outcome = 'failed') AS n_failed,
  count_if(outcome = 'cancelled') AS n_cancelled,
  sum(input_tok)::BIGINT AS input_tok,
  sum(output_tok)::BIGINT AS output_tok,
  sum(cached_input_tok)::BIGINT AS cached_input_tok,
  min(start_ns) AS first_start_ns,
  max(start_ns + e2el_ns) AS last_end_ns,
  avg(ttft_s) AS ttft_mean_s,
  stddev_pop(ttft_s) AS ttft_std_s,
  quantile_cont(ttft_s, [0.5, 0.75, 0.9, 0.95, 0.99]) AS ttft_quantiles_s,
  avg(tpot_s) AS tpot_mean_s,
  stddev_pop(tpot_s) AS tpot_std_s,
  quantile_cont(tpot_s, [0.5, 0.75, 0.9, 0.95, 0.99]) AS tpot_quantiles_s,
  avg(e2el_s) AS e2el_mean_s,
  stddev_pop(e2el_s) AS e2el_std_s,
  quantile_cont(e2el_s, [0.5, 0.75, 0.9, 0.95, 0.99]) AS e2el_quantiles_s
FROM timed
GROUP BY point_id
