"""The far side of the simulator: runs in the simulator's own environment, never imported by this project.

One JSON object a line on standard input, one answer a line on standard output: {"ok": …} or {"error": "…"}.
Requests: {"do": "versions"}, {"do": "profile", …} and {"do": "replay", …}; see the functions of these names.
Everything that the libraries print goes to standard error. The process ends when its input does.
"""

import functools
import importlib.metadata
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

PREFILL_TOK = (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072)
CONTEXT_TOK = (1024, 2048, 4096, 8192, 12288, 16384, 32768, 65536, 131072, 262144)
ACTIVE_KV_TOK = tuple(round(1024 * 2 ** (k / 2)) for k in range(27))
LARGEST_BATCH = 512
CHECKED_BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CHECKED_CONTEXT_TOK = 8192


def versions(asked: dict[str, Any]) -> dict[str, str]:
    """The installed versions of ``packages``."""
    return {name: importlib.metadata.version(name) for name in asked["packages"]}


def profile(asked: dict[str, Any]) -> dict[str, Any]:
    """Write the step times [ms] of one deployment to the npz ``path``; returns what is known about their quality.

    Prefill: one request of n new tokens, behind ``prefix_tok`` cached ones up to n = ``prefix_up_to_tok``. Decode:
    one step at active KV tokens × context length, the batch being their quotient. ``decode_ms`` are the steps of
    ``batches`` at one context, and ``silicon_share`` is the share of a step at batch 16 that is measured throughout.
    """
    import numpy as np
    from dynamo._internal.aic import estimate_num_gpu_blocks

    decode = [[_decode(asked, kv, context).tpot for context in CONTEXT_TOK] for kv in ACTIVE_KV_TOK]
    with Path(asked["path"]).open("wb") as file:
        np.savez(
            file,
            prefill_isl=np.array(PREFILL_TOK, dtype=float),
            prefill_ttft_ms=np.array([_prefill(asked, n) for n in PREFILL_TOK]),
            decode_active_kv_tokens=np.array(ACTIVE_KV_TOK, dtype=float),
            decode_context_length=np.array(CONTEXT_TOK, dtype=float),
            decode_itl=np.array(decode),
        )
    steps = [_decode(asked, batch * CHECKED_CONTEXT_TOK, CHECKED_CONTEXT_TOK) for batch in CHECKED_BATCHES]
    return {
        "batches": list(CHECKED_BATCHES),
        "decode_ms": [step.tpot for step in steps],
        "silicon_share": _silicon_share(steps[CHECKED_BATCHES.index(16)]),
        "n_kv_blocks": estimate_num_gpu_blocks(
            backend_name=asked["backend"],
            system=asked["system"],
            model_path=asked["model"],
            backend_version=asked["version"],
            tp_size=asked["tp"],
            moe_tp_size=asked["tp"] // asked["ep"],
            moe_ep_size=asked["ep"],
            block_size=asked["block_tok"],
            max_num_batched_tokens=asked["max_batched_tok"],
        ),
    }


def replay(asked: dict[str, Any]) -> dict[str, Any]:
    """Run one trace at one concurrency; returns the report, and one list a request.

    A request is start, time to first token and end-to-end latency [ms], then input, output and cached tokens.
    """
    from dynamo.replay.main import main

    folder = Path(asked["folder"])
    report, requests = folder / "report.json", folder / "requests.jsonl"
    code = main(
        [
            *(asked["trace"], "--trace-format", "mooncake-delta", "--trace-block-size", str(asked["trace_block_tok"])),
            *("--replay-mode", "offline", "--replay-concurrency", str(asked["concurrency"])),
            *("--extra-engine-args", json.dumps(asked["engine"])),
            *("--report-json", str(report), "--report-jsonl", str(requests)),
        ]
    )
    if code:
        raise RuntimeError(f"dynamo.replay ended with {code}")
    lines = [json.loads(line) for line in requests.read_text(encoding="utf-8").splitlines()]
    return {"report": json.loads(report.read_text(encoding="utf-8")), "requests": sorted(_request(r) for r in lines)}


def _request(line: dict[str, Any]) -> list[float]:
    return [
        *(line["arrival_time_ms"], line["ttft_ms"], line["e2e_latency_ms"]),
        *(line["input_length"], line["output_length"], line["reused_input_tokens"]),
    ]


def _decode(asked: dict[str, Any], active_kv_tok: int, context_tok: int) -> Any:
    batch = min(LARGEST_BATCH, max(1, round(active_kv_tok / context_tok)))
    return _estimate(_deployment(asked), ("static_gen", context_tok, 0, 2, batch))


def _prefill(asked: dict[str, Any], new_tok: int) -> float:
    prefix_tok = asked["prefix_tok"] if new_tok <= asked["prefix_up_to_tok"] else 0
    return _estimate(_deployment(asked), ("static_ctx", prefix_tok + new_tok, prefix_tok, 1, 1)).ttft


def _deployment(asked: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(asked[name] for name in ("model", "system", "backend", "version", "tp", "pp", "ep"))


@functools.cache
def _estimate(deployment: tuple[Any, ...], load: tuple[Any, ...]) -> Any:
    """One call of the tables. The version is always said: looking up the newest takes a hundred times as long."""
    from aiconfigurator.cli.api import cli_estimate

    model, system, backend, version, tp, pp, ep = deployment
    mode, input_tok, prefix_tok, output_tok, batch = load
    return cli_estimate(
        model,
        system,
        mode=mode,
        backend_name=backend,
        backend_version=version,
        tp_size=tp,
        pp_size=pp,
        moe_tp_size=tp // ep,
        moe_ep_size=ep,
        isl=input_tok,
        prefix=prefix_tok,
        osl=output_tok,
        batch_size=batch,
    )


def _silicon_share(step: Any) -> float:
    parts_ms = step.summary.get_generation_latency_dict()
    sources = step.summary.get_generation_source_dict()
    measured = sum(ms for name, ms in parts_ms.items() if sources.get(name) == "silicon")
    return float(measured / sum(parts_ms.values()))


def _answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    try:
        return {"ok": {"versions": versions, "profile": profile, "replay": replay}[asked["do"]](asked)}
    except Exception as error:  # whatever the libraries raise is the answer; the parent makes a sentence of it
        return {"error": f"{type(error).__name__}: {error}"}


def serve() -> None:
    """Answer until the input ends. Standard output is kept for answers, whatever the libraries print."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    logging.disable(logging.WARNING)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(line)) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
