"""From a measured recipe and one of its topologies to everything that starts the server: arguments and environment.

Belongs here: the flags of each engine. Not here: address and key, which are chosen when it starts, and whether a build
knows the flags (resources/launch_lines.py asks its parser).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.errors import RegistryError
from pipeline.registry.measured import MeasuredRecipe, Topology
from pipeline.sweep.made_models import MADE

QUIET = {"DO_NOT_TRACK": "1"}
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
"""For weights that are on this machine: nothing is looked up, so nothing else can answer."""

VARIABLES: Mapping[str, Mapping[str, str]] = {
    "vllm": {"VLLM_NO_USAGE_STATS": "1", "VLLM_SERVER_DEV_MODE": "1"},
    "sglang": {},
}
"""vLLM's development mode adds the call that resets the prefix cache; the server listens on this machine only."""

MODULES: Mapping[str, tuple[str, ...]] = {
    "vllm": ("-m", "vllm.entrypoints.cli.main", "serve"),
    "sglang": ("-m", "sglang.launch_server"),
}


DTYPES: Mapping[str, str] = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
"""The flag of both engines for a precision; the smaller ones are the checkpoint's own. Left to itself, vLLM computes an
fp32 checkpoint in bf16, and the measurement would be of another precision than it says."""


@dataclass(frozen=True)
class ServerPlan:
    """One server before it has an address. ``arguments`` are for the engine's own parser, without host, port and key.

    ``build`` is a block of builds.toml, ``n_gpus`` the GPUs that the server holds, and ``silence_s`` is how long it may
    show no sign of life before it is ended. ``folders`` of this host are read by the server.
    ``said`` stands in place of arguments, of a server that is not started here.
    """

    build: str
    engine: str
    model_name: str
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    silence_s: float
    n_gpus: int
    folders: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def line(self) -> tuple[str, ...]:
        """What a person would type in the build's environment, without address and key."""
        return self.said or ("python", *module_command(self.engine), *self.arguments)


def server_plan(recipe: MeasuredRecipe, topology: Topology, weights: str) -> ServerPlan:
    """The server of a topology. ``weights`` is what the engine loads: a hub name, or the folder of a made model.

    Raises RegistryError for a topology that the engine cannot run as one server.
    """
    arguments = {"vllm": _vllm, "sglang": _sglang}[_known(recipe.engine)](recipe, topology, weights)
    local = recipe.weights.startswith((MADE, "/"))
    return ServerPlan(
        build=recipe.build,
        engine=recipe.engine,
        model_name=recipe.model,
        arguments=(*arguments, *_dtype(recipe.precision), *recipe.launch, *topology.launch),
        variables={**QUIET, **VARIABLES[recipe.engine], **(OFFLINE if local else {}), **recipe.variables},
        silence_s=recipe.limits.silence_s,
        n_gpus=topology.n_gpus,
        folders=(weights,) if weights.startswith("/") else (),
    )


def standing_plan(
    recipe: MeasuredRecipe, topology: Topology, said: Mapping[str, str], declared: Mapping[str, str]
) -> ServerPlan:
    """The plan of a server that runs already, any engine's: there is nothing to start it with.

    In place of arguments: what it says of itself, and what its block says of it. That is published, so the place of its
    weights is left out.
    """
    known = {**declared, **said}
    words = [f"{name}={known[name]}" for name in sorted(known) if name != "model_path"]
    return ServerPlan(
        build=recipe.build,
        engine=recipe.engine,
        model_name=recipe.model,
        arguments=(),
        variables={},
        silence_s=recipe.limits.silence_s,
        n_gpus=topology.n_gpus,
        said=("not", "started", "here:", *words),
    )


def launch_lines(recipes: Mapping[str, MeasuredRecipe]) -> dict[str, tuple[str, ...]]:
    """What a parser is asked about: the arguments of every topology of every recipe, address and key included.

    The key of a line names its recipe and its sizes.
    """
    lines: dict[str, tuple[str, ...]] = {}
    for slug, recipe in recipes.items():
        for topology in recipe.topologies:
            sizes = " ".join(
                f"{name} {n}" for name, n in topology.model_dump(exclude={"launch", "prefill"}).items() if n != 1
            )
            plan = server_plan(recipe, topology, recipe.weights)
            address = address_arguments(recipe.engine, "127.0.0.1", 8000, "key")
            lines[f"recipe {slug} {sizes}".rstrip()] = (*plan.arguments, *address)
    return lines


def module_command(engine: str) -> tuple[str, ...]:
    """What follows the interpreter, before the arguments. Raises RegistryError for an engine that has no server."""
    return MODULES[_known(engine)]


def address_arguments(engine: str, host: str, port: int, api_key: str) -> tuple[str, ...]:
    """Where the server listens, and the key without which it answers nobody. Both engines spell them alike."""
    _known(engine)
    return ("--host", host, "--port", str(port), "--api-key", api_key)


def _known(engine: str) -> str:
    if engine not in MODULES:
        raise RegistryError(
            f"no server of {engine!r} can be launched",
            where="recipe",
            expected=" or ".join(MODULES),
            found=engine,
            next_step="Correct 'engine' of the recipe.",
        )
    return engine


def _dtype(precision: str) -> tuple[str, ...]:
    return ("--dtype", DTYPES[precision]) if precision in DTYPES else ()


def _vllm(recipe: MeasuredRecipe, topology: Topology, weights: str) -> list[str]:
    """Flags of vLLM multiply: GPUs = tp × dp × pp, so under data-parallel attention its tp is smaller than ours."""
    _refuse_uneven(topology)
    if topology.n_workers > 1:
        raise _impossible("one vLLM server holds one replica", "n_workers of 1", topology.n_workers, "n_workers")
    if topology.ep not in (1, topology.tp):
        raise _impossible("vLLM spreads experts over all GPUs or none", f"ep of 1 or {topology.tp}", topology.ep, "ep")
    sizes = {"tensor": topology.tp // topology.dp, "pipeline": topology.pp, "data": topology.dp}
    parallel = [part for name, n in sizes.items() for part in (f"--{name}-parallel-size", str(n))]
    experts = ["--enable-expert-parallel"] if topology.ep > 1 else []
    told = ["--enable-prompt-tokens-details", "--disable-uvicorn-access-log"]
    return [weights, "--served-model-name", recipe.model, *parallel, *experts, *told]


def _sglang(recipe: MeasuredRecipe, topology: Topology, weights: str) -> list[str]:
    """Of SGLang, tp counts the GPUs of a replica, also under data-parallel attention; dp alone counts replicas."""
    _refuse_uneven(topology)
    if topology.n_workers > 1 and topology.dp > 1:
        raise _impossible("dp and n_workers are one flag of SGLang", "one of them 1", topology.n_workers, "n_workers")
    sizes = {"tp": topology.tp, "pp": topology.pp, "ep": topology.ep, "dp": topology.dp * topology.n_workers}
    parallel = [part for name, n in sizes.items() for part in (f"--{name}-size", str(n))]
    attention = ["--enable-dp-attention"] if topology.dp > 1 else []
    told = ["--enable-cache-report", "--enable-metrics", "--log-level-http", "warning"]
    return ["--model-path", weights, "--served-model-name", recipe.model, *parallel, *attention, *told]


def _refuse_uneven(topology: Topology) -> None:
    if topology.tp % topology.dp:
        raise _impossible("dp does not divide tp", f"a divisor of {topology.tp}", topology.dp, "dp")


def _impossible(what: str, expected: str, found: int, key: str) -> RegistryError:
    return RegistryError(
        what, where="topology", expected=expected, found=str(found), next_step=f"Correct {key!r} of the recipe."
    )
