"""The project as it is with short recipes: a command line, and definitions for Dagster. Only for a process of its own:
importing it changes the recipes of the sweep.

python -m tests.engines.short_sweep ARGUMENTS is frontier ARGUMENTS. SHORT_LADDER is the last concurrency.
"""

import os

from assets import sweep
from pipeline.cli import main
from pipeline.definitions import build_defs, default_home
from pipeline.registry.measured import MeasuredRecipe
from tests.engines.short_recipes import RUNGS, short_recipes


def _of_environment() -> dict[str, MeasuredRecipe]:
    return short_recipes(int(os.environ.get("SHORT_LADDER", RUNGS[-1])))


sweep.measured_recipes = _of_environment
defs = build_defs(default_home())

if __name__ == "__main__":
    main()
