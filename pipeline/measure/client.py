"""What per-request arrays show about the load client, and about bursts between it and the engine.

Belongs here: deciding from many requests whether the client, not the engine, was measured. Not here: rules that one
summary row proves (validity.py).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

ONE_READ_TPOT_S = 1e-5
ONE_READ_SHARE_OF_MEDIAN = 1 / 20
MAX_ONE_READ_SHARE = 0.20
BURST_ITL_S = 1e-5
MIN_MODE_SHARE = 0.20


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
