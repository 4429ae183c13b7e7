"""Unit conversions, each written once. Only numbers in, numbers out; formats for people are in pages/wording.py."""

NS_PER_S = 1_000_000_000
S_PER_HOUR = 3_600
TOK_PER_MTOK = 1_000_000
GIB = 2**30


def seconds_from_ms(value_ms: float) -> float:
    """Milliseconds to seconds."""
    return value_ms / 1_000


def ns_from_seconds(value_s: float) -> int:
    """Seconds to integer nanoseconds, rounded to the nearest."""
    return round(value_s * NS_PER_S)


def seconds_from_ns(value_ns: int) -> float:
    """Integer nanoseconds to seconds."""
    return value_ns / NS_PER_S


def interactivity_tok_s_user(tpot_s: float) -> float | None:
    """Tokens per second that one user sees: 1 / TPOT. None for a TPOT that is not positive."""
    return 1 / tpot_s if tpot_s > 0 else None


def usd_per_mtok(usd_per_gpu_hour: float, throughput_tok_s_gpu: float) -> float | None:
    """USD per million tokens = rate x 1e6 / (throughput x 3600). None for a throughput that is not positive."""
    if throughput_tok_s_gpu <= 0:
        return None
    return usd_per_gpu_hour * TOK_PER_MTOK / (throughput_tok_s_gpu * S_PER_HOUR)
