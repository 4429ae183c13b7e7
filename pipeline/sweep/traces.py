"""The load of a simulated point as a trace: one JSON line a request, in mooncake-delta form, the same every time.

A line is session_id, input_length and output_length [tok], delay [ms] since the last answer of the session, and
hash_ids, one a block of ``BLOCK_TOK`` input tokens: equal ids are equal tokens. An input is what the turn adds; the
replay itself keeps the session's earlier inputs and answers in front of it.

Agentic sessions are drawn from the distributions of ``AGENTIC``; they resemble a coding agent's trajectories and are
not the AgentX corpus. Session i is the same in every trace, so a longer trace begins with the shorter one. Over 256
sessions: 14 turns (median), 57,000 input tokens a turn (mean; 52,000 median, 130,000 at most), of which a turn adds
1,000 (median) and 94 % are in a cache that forgets nothing; 290 output tokens (mean; 200 median).
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

from pipeline.registry.entries import Workload

TRACE_VERSION = 1
"""Goes up with any change of what this module writes."""

BLOCK_TOK = 512
_OWN_BLOCKS = 1_000_000
"""Block ids of one session start at a multiple of this; below the first are the shared ones."""


@dataclass(frozen=True)
class LogNormal:
    """A log-normal, cut off at both ends, rounded to whole numbers."""

    median: float
    sigma: float
    low: int
    high: int

    def draw(self, rng: random.Random) -> int:
        """One value: median × e^(sigma × z)."""
        value = self.median * math.exp(self.sigma * NormalDist().inv_cdf(rng.uniform(1e-9, 1 - 1e-9)))
        return min(self.high, max(self.low, round(value)))


@dataclass(frozen=True)
class AgenticTrace:
    """What an agentic session is: ``shared_tok`` of system prompt and tools that all sessions share, then the rest.

    ``block_tok`` is what one hash id stands for.
    """

    shared_tok: int = 8_192
    repository_tok: LogNormal = LogNormal(24_576, 0.7, 4_096, 81_920)
    turns: LogNormal = LogNormal(14, 0.7, 3, 60)
    added_tok: LogNormal = LogNormal(1_024, 1.0, 64, 16_384)
    answer_tok: LogNormal = LogNormal(192, 0.9, 16, 2_048)
    tool_ms: LogNormal = LogNormal(800, 1.0, 50, 20_000)
    longest_tok: int = 131_072
    block_tok: int = BLOCK_TOK


AGENTIC = AgenticTrace()

SHORT_BLOCK_TOK = 64
SHORT_MARGIN = 0.75
"""Share of a short context that is filled: chat templates and the engine's own tokens for an answer come on top."""


def short_trace(context_tok: int) -> AgenticTrace:
    """Sessions that fit a server with a context of 2k to 8k: the same course in small.

    A sixteenth of the context is shared, a repository takes an eighth (median), and a turn adds a fortieth. Sessions
    are cut where ``SHORT_MARGIN`` of the context is reached.
    """
    share = context_tok // 16 // SHORT_BLOCK_TOK * SHORT_BLOCK_TOK
    return AgenticTrace(
        shared_tok=max(SHORT_BLOCK_TOK, share),
        repository_tok=LogNormal(context_tok / 8, 0.5, context_tok // 16, context_tok // 4),
        turns=LogNormal(6, 0.5, 3, 12),
        added_tok=LogNormal(context_tok / 40, 0.7, 16, context_tok // 10),
        answer_tok=LogNormal(context_tok / 80, 0.6, 8, context_tok // 20),
        tool_ms=LogNormal(200, 0.8, 20, 2_000),
        longest_tok=round(context_tok * SHORT_MARGIN),
        block_tok=SHORT_BLOCK_TOK,
    )


def trace_shape(workload: Workload) -> AgenticTrace:
    """The sessions of an agentic workload that is made here."""
    return AGENTIC if workload.context_tok is None else short_trace(workload.context_tok)


SESSIONS_PER_LANE = 8
REQUESTS_PER_LANE = 10
N_AT_LEAST = 32


def trace_lines(workload: Workload, concurrency: int) -> list[str]:
    """The trace of one point: 8 agentic sessions, or 10 fixed-length requests, a lane, and at least 32 in all."""
    if workload.kind == "agentic":
        return agentic_trace(max(N_AT_LEAST, SESSIONS_PER_LANE * concurrency), trace_shape(workload))
    n_requests = max(N_AT_LEAST, REQUESTS_PER_LANE * concurrency)
    return fixed_trace(n_requests, workload.input_len_tok or 0, workload.output_len_tok or 0)


def fixed_trace(n_requests: int, input_tok: int, output_tok: int) -> list[str]:
    """Single requests of one length that share nothing."""
    return [
        _line(f"r{i}", input_tok, output_tok, BLOCK_TOK, first_block=(i + 1) * _OWN_BLOCKS) for i in range(n_requests)
    ]


def agentic_trace(n_sessions: int, shape: AgenticTrace = AGENTIC, first: int = 0) -> list[str]:
    """``n_sessions`` sessions from the ``first`` on, one after another."""
    return [line for i in range(first, first + n_sessions) for line in _session(i, shape)]


def _session(index: int, shape: AgenticTrace) -> Iterator[str]:
    rng = random.Random(index)
    shared = shape.shared_tok // shape.block_tok
    first_block = (index + 1) * _OWN_BLOCKS
    added_tok, context_tok, delay_ms = shape.shared_tok + shape.repository_tok.draw(rng), 0, 0
    for turn in range(shape.turns.draw(rng)):
        answer_tok = shape.answer_tok.draw(rng)
        context_tok += added_tok + answer_tok
        if context_tok > shape.longest_tok:
            return
        n_shared = shared if turn == 0 else 0
        yield _line(
            *(f"s{index}", added_tok, answer_tok, shape.block_tok),
            delay_ms=delay_ms,
            first_block=first_block,
            n_shared_blocks=n_shared,
        )
        first_block += -(-added_tok // shape.block_tok)
        added_tok, delay_ms = shape.added_tok.draw(rng), shape.tool_ms.draw(rng)


def _line(
    session: str,
    input_tok: int,
    output_tok: int,
    block_tok: int,
    *,
    first_block: int,
    delay_ms: int = 0,
    n_shared_blocks: int = 0,
) -> str:
    n_blocks = -(-input_tok // block_tok)
    blocks = [*range(n_shared_blocks), *range(first_block, first_block + n_blocks - n_shared_blocks)]
    body = {"session_id": session, "input_length": input_tok, "output_length": output_tok, "hash_ids": blocks}
    return json.dumps(body | ({"delay": delay_ms} if delay_ms else {}), separators=(",", ":"))
