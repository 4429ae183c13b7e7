"""Formats that are known by sight and not read: each is refused by the name of its tool, never guessed.

Belongs here: what tells such a file. Not here: formats that are read (the importers) and damage (document.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from pipeline.errors import UnsupportedFormatError

READ_FORMATS = (
    "InferenceX, vLLM, SGLang, AIPerf, GuideLLM, inference-perf, GenAI-Bench and LLMPerf results, and the "
    "published readings"
)

JSON_KEYS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"start_time", "end_time", "request", "response", "info"}), "inference-perf requests"),
    (frozenset({"num_sessions", "sessions_per_second"}), "inference-perf session reports"),
    (frozenset({"completed_turns", "failed_turns"}), "multi-turn agentic results"),
    (frozenset({"prearrange_frac", "server"}), "multi-turn agentic results"),
    (frozenset({"ttft_ms", "tpot_ms", "e2e_ms", "isl", "osl"}), "multi-turn agentic requests"),
    (frozenset({"prom_url", "before", "after"}), "Prometheus metric differences"),
    (frozenset({"gpu_name", "prices"}), "GPU price lists"),
    (frozenset({"test_info"}), "gpu_conc summaries"),
    (frozenset({"runs", "changelogs", "configs"}), "InferenceX workflow descriptions"),
    (frozenset({"completed_requests", "decode_gpus_per_worker"}), "Dynamo simulator reports"),
    (frozenset({"block_size", "requests", "hash_id_scope"}), "Weka traces"),
    (frozenset({"hash_ids", "input_length"}), "Mooncake traces"),
)
COLUMNS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"per_gpu_hourly_usd"}), "GPU price lists"),
    (frozenset({"price_per_1m_usd"}), "API price lists"),
    (frozenset({"previous_price_usd"}), "GPU price changes"),
    (frozenset({"power.draw [W]"}), "nvidia-smi telemetry"),
    (frozenset({"Metric", "avg", "p99"}), "AIPerf CSV exports (import the JSON beside it)"),
    (frozenset({"completed_turns", "failed_turns"}), "multi-turn agentic tables"),
    (frozenset({"prompt_tokens", "generation_tokens", "generation_time"}), "LMBenchmark requests"),
    (frozenset({"published_successful_profiled_request_count"}), "extracts of published InferenceX aggregates"),
    (frozenset({"timestamp_sec", "kv_cache_usage_pct"}), "server metric samples"),
    (frozenset({"mean_ttft_ms", "request_throughput"}), "tables of vLLM results (import the JSON files)"),
    (frozenset({"label", "mean_tpot_ms"}), "tables of vLLM results (import the JSON files)"),
    (frozenset({"label", "conc", "num_prompts"}), "run lists"),
    (frozenset({"Hardware", "Framework", "Batch Size"}), "LLM-Inference-Bench tables"),
)
TEXTS: tuple[tuple[Callable[[str], bool], str], ...] = (
    (lambda text: text.startswith(("# HELP", "# TYPE")), "Prometheus metrics"),
    (lambda text: text.startswith("+--"), "printed tables"),
    (lambda text: "Benchmark  /  Model MLC" in text[:2000], "MLPerf tables"),
)


def refuse_json(where: str, value: object) -> UnsupportedFormatError:
    """The refusal of a JSON document of no format that is read."""
    return _refusal(where, _tool_of(value, depth=2))


def refuse_text(where: str, text: str, header: Collection[str]) -> UnsupportedFormatError:
    """The refusal of a text or table of no format that is read; ``header`` is empty for plain text."""
    names = {name.lstrip("\ufeff").strip() for name in header}
    for columns, tool in COLUMNS:
        if columns <= names:
            return _refusal(where, tool)
    return _refusal(where, next((tool for tells, tool in TEXTS if tells(text)), None))


def _tool_of(value: Any, *, depth: int) -> str | None:
    """The tool of an object, or of the first one inside a list or an object of objects."""
    if isinstance(value, dict):
        for keys, tool in JSON_KEYS:
            if keys <= value.keys():
                return tool
    inner = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inner, list) and inner and depth:
        return _tool_of(inner[0], depth=depth - 1)
    return None


def _refusal(where: str, tool: str | None) -> UnsupportedFormatError:
    if tool is None:
        return UnsupportedFormatError(
            "the content is of no known tool", where=where, expected=READ_FORMATS, next_step="Import one of those."
        )
    return UnsupportedFormatError(
        f"{tool} are not read yet", where=where, expected=READ_FORMATS, next_step="Leave it out of the import."
    )
