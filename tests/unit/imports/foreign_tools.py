"""Small files of GuideLLM, inference-perf, GenAI-Bench and LLMPerf, written by hand: numbers to check by eye."""

GUIDELLM_START_S = 1_772_000_000.0
GUIDELLM_FACTS = {"gpu": "h100", "engine": "vllm", "precision": "bf16", "n_gpus": 2}


def guidellm_request(at_s, ttft_ms=100.0, latency_s=0.5, output_tok=5, **changes):
    """Starts ``at_s`` after the run does: first token after 0.1 s, then 4 more in 0.4 s."""
    start_s = GUIDELLM_START_S + at_s
    request = {
        "type_": "generative_request_stats",
        "info": {"status": "completed", "error": None},
        "request_start_time": start_s,
        "request_end_time": start_s + latency_s,
        "request_latency": latency_s,
        "prompt_tokens": 95,
        "output_tokens": output_tok,
        "time_to_first_token_ms": ttft_ms,
        "time_per_output_token_ms": 1000 * latency_s / output_tok,
        "inter_token_latency_ms": (1000 * latency_s - ttft_ms) / (output_tok - 1),
    }
    return {**request, **changes}


def distribution(mean, total=0.0, std=0.0):
    """GuideLLM's statistics of successful requests: the same value throughout."""
    percentiles = dict.fromkeys(("p25", "p50", "p75", "p90", "p95", "p99"), mean)
    block = {"mean": mean, "median": mean, "std_dev": std, "total_sum": total, "percentiles": percentiles}
    return {"successful": block, "errored": {**block, "mean": 0.0}, "total": block}


def guidellm_benchmark(strategy=None, **changes):
    """4 requests of 95 in / 5 out, in pairs, in 1 s: 400 tok/s."""
    benchmark = {
        "type_": "generative_benchmark",
        "config": {
            "run_id": "run-1",
            "strategy": strategy or {"type_": "concurrent", "streams": 2, "max_concurrency": 2},
            "backend": {"model": "openai/gpt-oss-120b"},
        },
        "scheduler_metrics": {"request_start_time": GUIDELLM_START_S},
        "metrics": {
            "request_totals": {"successful": 4, "errored": 0, "incomplete": 0, "total": 4},
            "request_concurrency": distribution(2.0),
            "request_latency": distribution(0.5),
            "prompt_token_count": distribution(95.0, 380.0),
            "output_token_count": distribution(5.0, 19.999999999999996),
            "time_to_first_token_ms": distribution(100.0),
            "time_per_output_token_ms": distribution(100.0),
            "inter_token_latency_ms": distribution(100.0),
        },
        "requests": {
            "successful": [guidellm_request(at_s) for at_s in (0.0, 0.0, 0.5, 0.5)],
            "errored": [],
            "incomplete": [],
            "total": None,
        },
        "start_time": GUIDELLM_START_S,
        "end_time": GUIDELLM_START_S + 1.0,
        "duration": 1.0,
        "warmup_duration": 0.0,
        "cooldown_duration": 0.0,
    }
    return {**benchmark, **changes}


def guidellm_report(*benchmarks, data="prompt_tokens=95,output_tokens=5"):
    return {
        "metadata": {"version": 1, "guidellm_version": "0.5.0"},
        "args": {"target": "http://localhost:8000", "data": [data], "model": "openai/gpt-oss-120b"},
        "benchmarks": list(benchmarks) or [guidellm_benchmark()],
    }


INFERENCE_PERF_FACTS = {
    **{"gpu": "h100", "engine": "vllm", "precision": "bf16", "n_gpus": 2, "model": "gpt_oss_120b"},
    "run_date": "2025-11-05",
}


def summarized(value):
    return dict.fromkeys(("mean", "min", "p1", "p10", "median", "p75", "p90", "p95", "p99", "max"), value)


def inference_perf_stage(load=None, **latency):
    """20 requests of 200 in / 51 out in 10 s: 502 tok/s. First token after 0.1 s, 50 more in 1 s."""
    latencies = {
        "request_latency": 1.1,
        "normalized_time_per_output_token": 1.1 / 51,
        "time_per_output_token": 0.02,
        "time_to_first_token": 0.1,
        "inter_token_latency": 0.02,
        **latency,
    }
    return {
        "load_summary": {
            "count": 20,
            "schedule_delay": summarized(0.001),
            "send_duration": 9.5,
            "requested_rate": 2.0,
            "achieved_rate": 2.1,
            **(load or {}),
        },
        "successes": {
            "count": 20,
            "latency": {key: None if value is None else summarized(value) for key, value in latencies.items()},
            "throughput": {
                "input_tokens_per_sec": 400.0,
                "output_tokens_per_sec": 102.0,
                "total_tokens_per_sec": 502.0,
                "requests_per_sec": 2.0,
            },
            "prompt_len": summarized(200.0),
            "output_len": summarized(51.0),
        },
        "failures": {"count": 0, "request_latency": None, "prompt_len": None},
    }


GENAI_FACTS = {
    **{"gpu": "h100", "engine": "vllm", "precision": "bf16", "n_gpus": 2, "model": "gpt_oss_120b"},
    "run_date": "2026-01-06",
}
GENAI_NAME = "D100_11_text-to-text_num_concurrency_2_time_4s.json"


def genai_request(ttft_s=0.1, latency_s=1.1, **changes):
    """100 in / 11 out: first token after 0.1 s, then 10 in 1 s."""
    request = {
        "ttft": ttft_s,
        "tpot": (latency_s - ttft_s) / 10,
        "e2e_latency": latency_s,
        "output_latency": latency_s - ttft_s,
        "num_input_tokens": 100,
        "num_output_tokens": 11,
        "total_tokens": 111,
        "error_code": None,
        "error_message": None,
    }
    return {**request, **changes}


GENAI_FAILED = {**dict.fromkeys(genai_request()), "error_code": 500, "error_message": "a bad day"}


def genai_statistics(value, n=4, std=0.0):
    return {**dict.fromkeys(("mean", "p25", "p50", "p75", "p90", "p95", "p99"), value), "stddev": std, "sum": value * n}


def genai_result(requests=None, stats=None, **changes):
    """4 requests in 4 s, two at a time: 444 tokens, 111 tok/s. The first tokens of each pair are 0.2 s apart."""
    requests = [genai_request(0.1), genai_request(0.3)] * 2 if requests is None else requests
    failed = sum(request["error_code"] is not None for request in requests)
    totals = {
        "scenario": "D(100,11)",
        "num_concurrency": 2,
        "batch_size": 1,
        "iteration_type": "num_concurrency",
        "run_duration": 4.0,
        "error_codes_frequency": {},
        "error_rate": 0,
        "num_error_requests": failed,
        "num_completed_requests": len(requests) - failed,
        "num_requests": len(requests),
        "stats": {
            "ttft": genai_statistics(0.2, std=0.1) | {"p75": 0.3, "p90": 0.3, "p95": 0.3, "p99": 0.3},
            "tpot": genai_statistics(0.09, std=0.01) | {"p75": 0.1, "p90": 0.1, "p95": 0.1, "p99": 0.1},
            "e2e_latency": genai_statistics(1.1),
            "num_input_tokens": genai_statistics(100),
            "num_output_tokens": genai_statistics(11),
            "total_tokens": genai_statistics(111),
            **(stats or {}),
        },
        **changes,
    }
    return {"aggregated_metrics": totals, "individual_request_metrics": requests}


def genai_description(**changes):
    description = {
        "cmd": "genai-bench benchmark --num-concurrency 2",
        "benchmark_version": "0.0.2",
        "api_backend": "openai",
        "api_model_name": "openai/gpt-oss-120b",
        "model": "gpt-oss-120b",
        "server_engine": "SGLang",
        "server_version": "v0.5.8",
        "server_gpu_type": "H200",
        "server_gpu_count": "4",
        "experiment_folder_name": "/home/me/openai_SGLang_text-to-text_gpt-oss-120b_20260106_003622",
    }
    return {**description, **changes}


LLMPERF_FACTS = {"gpu": "h100", "engine": "vllm", "precision": "bf16", "n_gpus": 2}
LLMPERF_NAME = "gpt-oss-120b_100_10_summary.json"


def llmperf_request(ttft_s=0.1, latency_s=1.1, **changes):
    """100 in / 11 out by its own count: first token after 0.1 s, then 10 in 1 s."""
    request = {
        "error_code": None,
        "error_msg": "",
        "inter_token_latency_s": latency_s / 11,
        "ttft_s": ttft_s,
        "end_to_end_latency_s": latency_s,
        "request_output_throughput_token_per_s": 11 / latency_s,
        "number_total_tokens": 111,
        "number_output_tokens": 11,
        "number_input_tokens": 100,
    }
    return {**request, **changes}


def llmperf_summary(**changes):
    """4 requests at 60 a minute: 4 s, 444 tokens, 111 tok/s."""

    def quantiles(key, value, stddev=0.0):
        words = {f"{key}_quantiles_p{p}": value for p in (25, 50, 75, 90, 95, 99)}
        return {**words, f"{key}_mean": value, f"{key}_stddev": stddev}

    summary = {
        "version": "2023-08-31",
        "name": "gpt-oss-120b_100_10_summary",
        "model": "openai/gpt-oss-120b",
        "mean_input_tokens": 100,
        "stddev_input_tokens": 0,
        "mean_output_tokens": 10,
        "stddev_output_tokens": 0,
        "num_concurrent_requests": 2,
        **quantiles("results_inter_token_latency_s", 0.1),
        **quantiles("results_ttft_s", 0.1),
        **quantiles("results_end_to_end_latency_s", 1.1),
        **quantiles("results_number_input_tokens", 100.0),
        **quantiles("results_number_output_tokens", 11.0),
        "results_number_input_tokens_min": "100",
        "results_num_requests_started": 4,
        "results_error_rate": 0.0,
        "results_number_errors": 0,
        "results_mean_output_throughput_token_per_s": 11.0,
        "results_num_completed_requests": 4,
        "results_num_completed_requests_per_min": 60.0,
        "timestamp": 1_772_000_000,
    }
    return {**summary, **changes}
