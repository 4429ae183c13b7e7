"""The cost arithmetic of one operating point, as pure functions. The same law over tables is cost.sql.

Dollars and throughput belong to one GPU. Each kind of token is charged with all dollars, so the kinds are three views
of one bill, not three parts of it: they do not add up.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.units import usd_per_mtok


@dataclass(frozen=True)
class TokenThroughput:
    """Tokens per second and GPU, by kind: total counts cached input and output. None where not known."""

    total_tok_s_gpu: float
    computed_input_tok_s_gpu: float | None
    output_tok_s_gpu: float | None


@dataclass(frozen=True)
class TokenCost:
    """USD per million tokens of each kind. None where the kind's throughput is not known or not positive."""

    total_usd_mtok: float | None
    computed_input_usd_mtok: float | None
    output_usd_mtok: float | None


def token_cost(usd_per_gpu_hour: float, throughput: TokenThroughput) -> TokenCost:
    """What a million tokens of each kind cost: rate x 1e6 / (throughput of the kind x 3600), in USD/Mtok."""
    return TokenCost(
        total_usd_mtok=usd_per_mtok(usd_per_gpu_hour, throughput.total_tok_s_gpu),
        computed_input_usd_mtok=_kind_usd_mtok(usd_per_gpu_hour, throughput.computed_input_tok_s_gpu),
        output_usd_mtok=_kind_usd_mtok(usd_per_gpu_hour, throughput.output_tok_s_gpu),
    )


def _kind_usd_mtok(usd_per_gpu_hour: float, throughput_tok_s_gpu: float | None) -> float | None:
    return None if throughput_tok_s_gpu is None else usd_per_mtok(usd_per_gpu_hour, throughput_tok_s_gpu)
