-- Grain: one row a point_id of REQUESTS that has gaps. All gaps of its successful profiling requests are one pool:
-- a request with more chunks weighs more, as in vLLM's and SGLang's own statistics.
-- Columns: mean, std (population) and the linearly interpolated p50 p75 p90 p95 p99 of the gaps [s]. Order: none.
WITH gaps AS (
  SELECT point_id, unnest(itl_ns) / 1e9 AS itl_s
  FROM {requests}
  WHERE phase = 'profiling' AND outcome = 'ok'
)
SELECT
  point_id,
  avg(itl_s) AS itl_mean_s,
  stddev_pop(itl_s) AS itl_std_s,
  quantile_cont(itl_s, [0.5, 0.75, 0.9, 0.95, 0.99]) AS itl_quantiles_s
FROM gaps
GROUP BY point_id
