"""The command line of a host on which nothing is real behind the borders of engine and load generator.

Run as a module with the arguments of ``frontier``; FAR_FOLDER holds the fakes. One short recipe, of one ladder.
"""

import os
from pathlib import Path

from pipeline import cli
from pipeline import launch as launching
from pipeline.definitions import CHECKOUT, build_defs
from pipeline.registry.hosts import SshHost
from pipeline.registry.shipped import measured_recipes
from pipeline.sweep import launch_line
from resources import caller, far_hosts, made_model
from tests.graph.test_measured_sweep import FAKES, SHORT, bench_at

HOST = "rack_b"
RECIPE = "cpu_vllm_fixed"
SILENCE_S = 4.0


def short_recipes() -> dict:
    return {RECIPE: measured_recipes()[RECIPE].model_copy(update={"concurrency": SHORT})}


def host_at(folder: Path, port: int, user: str) -> SshHost:
    """The host as its block in hosts.toml would be."""
    return SshHost(
        name="Rack B",
        kind="ssh",
        address="127.0.0.1",
        user=user,
        port=port,
        checkout=str(CHECKOUT),
        home=str(folder / "home"),
        python=str(folder / "python"),
    )


def main() -> None:
    import assets.sweep as asset

    folder = Path(os.environ["FAR_FOLDER"])
    asset.measured_recipes = short_recipes
    launch_line.MODULES = {**launch_line.MODULES, "vllm": (str(FAKES / "engine.py"),)}
    made_model.CHILD = FAKES / "made_model_child.py"
    caller.SILENCE_S = SILENCE_S
    far_hosts.host_of = lambda gpu: (HOST, host_at(folder, 22, "nobody"))
    bench = {"bench": bench_at(folder / "home", folder)}
    launching.build_defs = lambda home, resources: build_defs(home, {**resources, **bench})
    cli.main()


if __name__ == "__main__":
    main()
