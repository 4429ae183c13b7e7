"""The small model's recipes made short, so that a whole sweep takes a minute."""

from pipeline.registry.entries import Concurrency
from pipeline.registry.measured import Limits, Load, MeasuredRecipe
from pipeline.registry.shipped import measured_recipes

SHIPPED = {"vllm": "cpu_vllm_fixed", "sglang": "cpu_sglang_fixed"}
LOAD = Load(repeats=2, warmup_s=1, window_s=5, grace_s=30)
RUNGS = (1, 2, 4)


def short_recipes(end: int) -> dict[str, MeasuredRecipe]:
    """Both engines, from one request at a time to the ``end`` and no further; a wrong one beside them."""
    short = {
        "concurrency": Concurrency(start=1, end=end, factor=2),
        "load": LOAD,
        "limits": Limits(max_concurrency=end),
    }
    made = {engine: measured_recipes()[slug].model_copy(update=short) for engine, slug in SHIPPED.items()}
    wrong = made["vllm"].model_copy(update={"launch": (*made["vllm"].launch, "--max-running-sequences", "3")})
    return {"wrong_flag": wrong, **made}
