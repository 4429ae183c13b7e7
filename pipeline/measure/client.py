"""What per-request arrays show about the load client, and about bursts between it and the engine.

Belongs here: deciding from many requests whether the client, not the engine, was measured. Not here: rules that one
summary row proves (validity.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ONE_READ_TPOT_S = 1e-5
ONE_READ_SHARE_OF_MEDIAN = 1 / 20
MAX_ONE_READ_SHARE = 0.20
BURST_ITL_S = 1e-5
MIN_MODE_SHARE = 0.20
MAX_COUNT_MISMATCH = 0.02
MAX_CLIENT_ERROR = 0.03
TEMPLATE_TOK = 32
"""Tokens of a chat template: the server counts them in a prompt, the client may not, and all prompts share them."""


@dataclass(frozen=True)
class ClientFacts:
    """What the load client says of itself over one point. None: not known.

    ``error_share``: its own part of TPOT, from the scripted server at the same concurrency. ``cpu_cores``: its CPU
    seconds / seconds that it ran. ``input_tok``, ``output_tok``: its own count of the successful measured requests,
    where it has one. ``n_reused_prompts``: requests whose prompt it had sent before; ``n_without_usage``: successful
    ones whose server said nothing of tokens.
    """

    error_share: float | None = None
    cpu_cores: float | None = None
    input_tok: int | None = None
    output_tok: int | None = None
    n_reused_prompts: int = 0
    n_without_usage: int = 0


def one_read_share(tpots_s: Sequence[float]) -> float | None:
    """Share of requests whose whole output arrived in one socket read. None without requests.

    Such a request has a TPOT below 10 µs, or below a twentieth of the median TPOT: its tokens waited in a buffer
    until the client came round, so their gaps are the client's parsing time.
    """
    if not tpots_s:
        return None
    bound_s = max(ONE_READ_TPOT_S, statistics.median(tpots_s) * ONE_READ_SHARE_OF_MEDIAN)
    return sum(tpot < bound_s for tpot in tpots_s) / len(tpots_s)


def client_bound(tpots_s: Sequence[float]) -> bool:
    """True where at least 20 % of the requests arrived in one read each: reason client_bound."""
    share = one_read_share(tpots_s)
    return share is not None and share >= MAX_ONE_READ_SHARE


def in_bursts(itl_p50_s: float | None, tpot_p50_s: float | None) -> bool:
    """True where the median gap is below 10 µs although the median TPOT is above it: note output_in_bursts.

    A note and not a reason. A proxy that streams in blocks (median ITL 4 µs, TPOT 12 ms) delivers most chunks in the
    read of the one before, so the gaps say nothing. TPOT divides the whole time of an output by its tokens: a
    burst moves its ends by one burst at most, and many bursts an output leave it right. Where one burst held the
    whole output TPOT collapses too, and that is client_bound or implausible_tpot.
    """
    return itl_p50_s is not None and tpot_p50_s is not None and itl_p50_s < BURST_ITL_S < tpot_p50_s


def is_bimodal(tpots_s: Sequence[float]) -> bool:
    """True where the widest gap between neighbouring TPOTs is over half their range, with 20 % on both sides.

    The median then lies in one of two modes, and a repeat may report the other: note bimodal_tpot. False for fewer
    than ten requests.
    """
    ranked = sorted(tpots_s)
    n_side = max(1, round(MIN_MODE_SHARE * len(ranked)))
    if len(ranked) < 10 or ranked[-1] <= ranked[0]:
        return False
    widest = max(ranked[i + 1] - ranked[i] for i in range(n_side - 1, len(ranked) - n_side))
    return widest > (ranked[-1] - ranked[0]) / 2


def counts_mismatch(row: Mapping[str, Any], client: ClientFacts) -> bool:
    """True where token counts contradict each other: reason token_count_mismatch.

    ``row`` has the server's usage of the successful measured requests (input_tok, output_tok, cached_input_tok,
    n_successful). The client's own count may differ by 2 %; of the input also by a chat template a request, which only
    the server counts. More input cached than sent is a contradiction too.
    """
    template_tok = TEMPLATE_TOK * (row.get("n_successful") or 0)
    return (
        _differ(row.get("input_tok"), client.input_tok, up_to_more=template_tok)
        or _differ(row.get("output_tok"), client.output_tok, up_to_more=0)
        or (row.get("cached_input_tok") or 0) > (row.get("input_tok") or 0)
    )


def too_slow(client: ClientFacts) -> bool:
    """True where the client's own part of TPOT is above 3 %: note client_too_slow.

    A note and not a reason: the size is known and stands beside the point, and it makes the engine look slower, never
    faster.
    """
    return client.error_share is not None and client.error_share > MAX_CLIENT_ERROR


def _differ(server_tok: int | None, client_tok: int | None, *, up_to_more: int) -> bool:
    if server_tok is None or client_tok is None:
        return False
    allowed_tok = MAX_COUNT_MISMATCH * client_tok
    return not -allowed_tok <= server_tok - client_tok <= allowed_tok + up_to_more
