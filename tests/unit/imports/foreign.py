"""Small foreign rows, written by hand: numbers that can be checked by eye."""


def vllm_row(**changes):
    """8 requests of 100 in / 50 out in 10 s: 120 tok/s in all."""
    row = {
        "date": "20260607-072500",
        "backend": "vllm",
        "model_id": "facebook/opt-125m",
        "tokenizer_id": "facebook/opt-125m",
        "num_prompts": 8,
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 2,
        "duration": 10.0,
        "completed": 8,
        "failed": 0,
        "total_input_tokens": 800,
        "total_output_tokens": 400,
        "request_throughput": 0.8,
        "request_goodput:": None,
        "output_throughput": 40.0,
        "total_token_throughput": 120.0,
        "mean_ttft_ms": 200.0,
        "median_ttft_ms": 150.0,
        "std_ttft_ms": 20.0,
        "p99_ttft_ms": 400.0,
        "mean_tpot_ms": 21.0,
        "median_tpot_ms": 20.0,
        "std_tpot_ms": 2.0,
        "p99_tpot_ms": 30.0,
        "mean_itl_ms": 21.0,
        "median_itl_ms": 19.0,
        "std_itl_ms": 5.0,
        "p99_itl_ms": 60.0,
    }
    return {**row, **changes}


def vllm_detailed(**changes):
    """4 requests of 3 tokens, in pairs: first token after 0.1 s, then two gaps of 0.2 s."""
    arrays = {
        "num_prompts": 4,
        "completed": 4,
        "duration": 1.0,
        "total_input_tokens": 40,
        "total_output_tokens": 12,
        "input_lens": [10] * 4,
        "output_lens": [3] * 4,
        "ttfts": [0.1] * 4,
        "itls": [[0.2, 0.2]] * 4,
        "start_times": [1000.0, 1000.0, 1000.5, 1000.5],
        "errors": [""] * 4,
        **{f"{s}_ttft_ms": 100.0 for s in ("mean", "median", "p99")},
        **{f"{s}_tpot_ms": 200.0 for s in ("mean", "median", "p99")},
        **{f"{s}_itl_ms": 200.0 for s in ("mean", "median", "p99")},
        **{f"std_{name}_ms": 0.0 for name in ("ttft", "tpot", "itl")},
    }
    return vllm_row(**{**arrays, **changes})


VLLM_FACTS = {"gpu": "h100", "precision": "bf16", "n_gpus": 4}


def sglang_row(**changes):
    """10 requests of 100 in / 20 out in 6 s on 2 workers of tp 4: 1,200 tokens, 200 tok/s, 25 tok/s/GPU."""
    row = {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": 4.0,
        "max_concurrency": 5,
        "random_input_len": 128,
        "random_output_len": 32,
        "server_info": {
            "model_path": "/models/gpt-oss-120b",
            "tp_size": 4,
            "pp_size": 1,
            "dp_size": 2,
            "ep_size": 1,
            "enable_dp_attention": False,
            "dtype": "bfloat16",
            "quantization": "mxfp4",
            "device": "cuda",
            "nnodes": 1,
            "speculative_algorithm": None,
            "disaggregation_mode": "null",
            "version": "0.5.8",
        },
        "duration": 6.0,
        "completed": 10,
        "total_input_tokens": 1000,
        "total_output_tokens": 200,
        "total_output_tokens_retokenized": 199,
        "mean_e2e_latency_ms": 500.0,
        "median_e2e_latency_ms": 480.0,
        "mean_ttft_ms": 100.0,
        "median_ttft_ms": 90.0,
        "mean_tpot_ms": 11.0,
        "median_tpot_ms": 10.0,
        "median_itl_ms": 9.0,
        "concurrency": 4.5,
        "accept_length": None,
    }
    return {**row, **changes}


SGLANG_FACTS = {"gpu": "h100", "run_date": "2026-03-04"}


def flat_row(**changes):
    """The first generation: 900 tok/s/GPU in all, 100 of them output."""
    row = {
        "hw": "b200-trt",
        "tp": 8,
        "ep": 1,
        "dp_attention": "false",
        "conc": 16,
        "model": "deepseek-ai/DeepSeek-R1-0528",
        "framework": "trt",
        "precision": "fp8",
        "tput_per_gpu": 900.0,
        "output_tput_per_gpu": 100.0,
        "input_tput_per_gpu": 800.0,
        "mean_ttft": 0.6,
        "median_ttft": 0.5,
        "std_ttft": 0.1,
        "p99_ttft": 2.0,
        "mean_tpot": 0.021,
        "median_tpot": 0.02,
        "std_tpot": 0.001,
        "p99_tpot": 0.025,
        "mean_intvty": 47.6,
        "median_intvty": 50.0,
        "std_intvty": 1000.0,
        "p99_intvty": 40.0,
        "mean_itl": 0.021,
        "median_e2el": 20.0,
    }
    return {**row, **changes}


FLAT_FACTS = {"run_date": "2025-11-11"}
FLAT_NAME = "agg_dsr1_8k1k.json"


def api_row(metrics=None, **changes):
    """A disaggregated API row: 4 prefill GPUs at 900 in, 8 decode GPUs at 150 out: (3600 + 1200) / 12 = 400."""
    row = {
        "hardware": "gb200",
        "framework": "dynamo-trt",
        "model": "dsr1",
        "precision": "fp4",
        "spec_method": "mtp",
        "disagg": True,
        "is_multinode": True,
        "prefill_tp": 4,
        "prefill_ep": 4,
        "prefill_dp_attention": True,
        "prefill_num_workers": 1,
        "decode_tp": 8,
        "decode_ep": 8,
        "decode_dp_attention": False,
        "decode_num_workers": 1,
        "num_prefill_gpu": 4,
        "num_decode_gpu": 8,
        "isl": 1024,
        "osl": 1024,
        "conc": 24,
        "image": "repo/image:1.2",
        "metrics": {
            "tput_per_gpu": 400.0,
            "input_tput_per_gpu": 900.0,
            "output_tput_per_gpu": 150.0,
            "median_ttft": 0.5,
            "median_tpot": 0.01,
            "mean_tpot": 0.011,
            **(metrics or {}),
        },
        "date": "2026-03-23",
        "run_url": "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/23438524239/attempts/5",
    }
    return {**row, **changes}


def statistics(value):
    """The same value for every statistic."""
    return dict.fromkeys(("mean", "p50", "p75", "p90", "p95"), value) | {"std": 0.0}


def agentx_row(**changes):
    """100 records of 20 warm-up, 1,000 in / 100 out each in 80 s on 8 GPUs: 1,100 tok/s, 137.5 tok/s/GPU."""
    row = {
        "hw": "cluster:h100-dgxc",
        "conc": 4,
        "image": "lmsysorg/sglang:nightly-20260923",
        "model": "deepseek-ai/DeepSeek-V4.1-Flash",
        "framework": "sglang",
        "precision": "fp4",
        "spec_decoding": "mtp",
        "disagg": False,
        "scenario_type": "agentic-coding",
        "is_multinode": False,
        "tp": 8,
        "ep": 1,
        "pp": 1,
        "dcp_size": 1,
        "pcp_size": 1,
        "dp_attention": "false",
        "kv_offloading": "dram",
        "kv_offload_backend": {"name": "hicache", "version": "0"},
        "num_requests_total": 100,
        "num_requests_successful": 80,
        "request_accounting": {"records_total": 100, "records_warmup_dropped": 20, "records_error_dropped": 0},
        "request_metrics": {
            "latency": {
                "ttft": statistics(1.0),
                "e2el": statistics(4.0),
                "itl": statistics(0.025),
                "tpot": statistics(0.025),
                "intvty": statistics(999.0),
                "full_response_itl": statistics(0.02),
            },
            "tokens": {"input": {"mean": 1000.0}, "output_actual": {"mean": 100.0}},
            "throughput": {
                "input": {"tokens_per_second": 1000.0},
                "output": {"tokens_per_second": 100.0},
                "total": {"tokens_per_second": 1100.0},
                "duration_seconds": 80.0,
                "per_gpu": {"total_tput_tps": 137.5, "output_tput_tps": 12.5, "input_tput_tps": 125.0},
            },
        },
        "server_metrics": {
            "cache": {"overall_cache_hit_rate": 0.75},
            "tokens": {"prompt_total": 80_000, "requests_completed": 80},
        },
        "power_valid": 1,
        "avg_power_w": 300.0,
        "joules_per_output_token": 24.0,
    }
    return {**row, **changes}


AGENTX_FACTS = {"run_date": "2026-09-24"}


def tuned_row(**changes):
    """8 GPUs at 9,600 tok/s in all, half of them output."""
    row = {
        "hw": "b200",
        "model": "nvidia/DeepSeek-R1-0528-FP4",
        "framework": "sglang",
        "precision": "fp4",
        "isl": 1024,
        "osl": 1024,
        "tp": 8,
        "ep": 8,
        "conc": 128,
        "image": "lmsysorg/sglang:dev",
        "ts": "2026-06-12T00:56:37+00:00",
        "metrics": {
            "successful_requests": 1277,
            "total_token_throughput": 9600.0,
            "output_token_throughput": 4800.0,
            "median_ttft_ms": 500.0,
            "median_tpot_ms": 25.0,
        },
        "gpu": {"n_gpus": 8, "mean_power_per_gpu_w": 571.7},
    }
    return {**row, **changes}


def tokpos_row(**changes):
    """vLLM's names in seconds: 1,280 tokens in 10 s."""
    row = {
        "date": "20260214-142343",
        "model_id": "MiniMaxAI/MiniMax-M2.5",
        "num_prompts": 8,
        "request_rate": "inf",
        "max_concurrency": 16,
        "duration": 10.0,
        "completed": 8,
        "total_input_tokens": 1024,
        "total_output_tokens": 256,
        "request_throughput": 0.8,
        "median_ttft": 0.45,
        "p99_ttft": 1.0,
        "median_tpot": 0.025,
        "p99_tpot": 0.04,
    }
    return {**row, **changes}


def metric(value, unit="ms"):
    """An AIPerf metric with the same value for every statistic."""
    return {"unit": unit, **dict.fromkeys(("avg", "p50", "p75", "p90", "p95", "p99"), value), "std": 0.0}


def aiperf_row(**changes):
    """10 requests of 100 in / 50 out in 5 s: 300 tok/s."""
    row = {
        "request_latency": metric(1000.0),
        "time_to_first_token": metric(20.0),
        "inter_token_latency": metric(20.0),
        "inter_chunk_latency": metric(0.04, "s"),
        "request_count": {"unit": "requests", "avg": 10.0},
        "error_request_count": None,
        "benchmark_duration": {"unit": "sec", "avg": 5.0},
        "total_isl": {"unit": "tokens", "avg": 1000.0},
        "total_osl": {"unit": "tokens", "avg": 500.0},
        "min_request_timestamp": {"unit": "ns", "avg": 1.7625515347970678e18},
        "input_config": {
            "endpoint": {"model_names": ["Qwen/Qwen3-0.6B"]},
            "input": {"prompt": {"input_tokens": {"mean": 100}, "output_tokens": {"mean": 50}}},
            "loadgen": {"concurrency": 2, "warmup_request_count": 1},
        },
        "start_time": "2025-11-07T13:38:54.793124",
        "was_cancelled": False,
        "telemetry_data": {"endpoints": {"a": {"gpus": {"gpu_0": {"gpu_name": "NVIDIA RTX 6000 Ada Generation"}}}}},
    }
    return {**row, **changes}


AIPERF_FACTS = {"engine": "vllm", "precision": "bf16", "n_gpus": 1}


def aiperf_record(index, **metadata):
    """Request ``index`` starts at index seconds, has its first of 3 tokens after 100 ms, then gaps of 50 ms."""
    start_ns = 1_762_551_534_000_000_000 + index * 1_000_000_000
    return {
        "metadata": {
            "conversation_id": f"c{index}",
            "turn_index": 0,
            "request_start_ns": start_ns,
            "request_end_ns": start_ns + 200_000_000,
            "benchmark_phase": "profiling",
            "was_cancelled": False,
            **metadata,
        },
        "metrics": {
            "time_to_first_token": {"value": 100.0, "unit": "ms"},
            "request_latency": {"value": 200.0, "unit": "ms"},
            "input_sequence_length": {"value": 100, "unit": "tokens"},
            "output_sequence_length": {"value": 3, "unit": "tokens"},
            "inter_chunk_latency": {"value": [50.0, 50.0], "unit": "ms"},
        },
        "error": None,
    }
