"""What the simulator is asked for a point: the deployment's step times, and the replay of a trace on them.

Belongs here: names and numbers of the scheduler model. Not here: the child that answers (resources/simulator.py).
"""

from __future__ import annotations

from typing import Any

from pipeline.registry.entries import SimulatedRecipe, Workload
from pipeline.sweep.plan import PlannedPoint
from pipeline.sweep.traces import AGENTIC, BLOCK_TOK

KV_BLOCK_TOK = 64
MAX_BATCHED_TOK = 8_192
MAX_RUNNING = 256
AGENTIC_PREFIX_TOK = AGENTIC.longest_tok // 2
"""What a turn adds is timed behind this many cached tokens: the replay knows one prefill time for every prefix."""


def profile_request(recipe: SimulatedRecipe, workload: Workload) -> dict[str, Any]:
    """The deployment whose step times are wanted."""
    return {
        "model": recipe.tables.model,
        "system": recipe.tables.system,
        "backend": recipe.engine,
        "version": recipe.tables.version,
        "tp": recipe.tp,
        "pp": recipe.pp,
        "ep": recipe.ep,
        "prefix_tok": AGENTIC_PREFIX_TOK if workload.kind == "agentic" else 0,
        "prefix_up_to_tok": AGENTIC.added_tok.high,
        "block_tok": KV_BLOCK_TOK,
        "max_batched_tok": MAX_BATCHED_TOK,
    }


def replay_request(point: PlannedPoint, workload: Workload, n_kv_blocks: int) -> dict[str, Any]:
    """The scheduler and its load.

    SGLang's agentic prompts are prefilled unchunked: the replay of 1.4.2 forgets all but the first chunk of a chunked
    prompt, so that every later turn would compute its whole context again.
    """
    engine: dict[str, Any] = {
        "engine_type": point.recipe.engine,
        "num_gpu_blocks": n_kv_blocks,
        "block_size": KV_BLOCK_TOK,
        "max_num_seqs": MAX_RUNNING,
        "max_num_batched_tokens": MAX_BATCHED_TOK,
        "enable_prefix_caching": True,
        "enable_chunked_prefill": True,
    }
    if point.recipe.engine == "sglang":
        chunk_tok = AGENTIC.longest_tok if workload.kind == "agentic" else MAX_BATCHED_TOK
        engine["max_num_batched_tokens"] = chunk_tok
        engine["sglang"] = {
            "page_size": KV_BLOCK_TOK,
            "chunked_prefill_size": chunk_tok,
            "max_prefill_tokens": chunk_tok,
        }
    return {"concurrency": point.concurrency, "trace_block_tok": BLOCK_TOK, "engine": engine}
