"""What a build must show before it counts: it knows the flags of its recipes, and on a CPU it answers.

Belongs here: the two proofs. Not here: installing (engine_builder.py), the flags (pipeline/sweep/launch_line.py).
"""

import shutil
from collections.abc import Callable

from pipeline.builds.plan import Plan
from pipeline.errors import BuildError, DeviceError, EngineError
from pipeline.sweep.launch_line import launch_lines, server_plan
from pipeline.sweep.made_models import TINY
from resources.build_questions import Ask
from resources.built import Built
from resources.device_lock import Devices
from resources.engine_server import EngineServers
from resources.launch_lines import check_launch_lines
from resources.made_model import MadeModels

PROOF = "proof"


def prove_launch_lines(plan: Plan, ask: Ask, parser_code: str, build_hash: str) -> None:
    """Raises BuildError for the first recipe of the build whose launch line its own parser refuses.

    It names the recipe, the flag and the nearest flag that exists. Without recipes, the parser itself must run.
    """
    check_launch_lines(ask, parser_code, launch_lines(plan.recipes), f"{plan.slug} {build_hash}")


def prove_answer(plan: Plan, built: Built, say: Callable[[str], None]) -> None:
    """Let a server of the build answer one request. Raises BuildError where it does not.

    The server is that of its first recipe, its weights replaced by a tiny model made on the spot. A build for another
    host than a CPU is not asked, and neither is an image, which has no Python here to make the model, nor one without
    recipes. Nothing of it stays in the build.
    """
    if plan.build.host != "cpu" or not plan.build.environment or not plan.recipes:
        return
    folder = built.folder / PROOF
    recipe = next(iter(plan.recipes.values()))
    try:
        weights = MadeModels(root_dir=str(folder)).make(TINY, built.python, say)
        asked = server_plan(recipe, recipe.topologies[0], str(weights))
        servers = EngineServers(root_dir=str(folder), grace_s=10)
        with Devices(root_dir=str(folder)).hold(PROOF, say) as held, servers.running(built, asked, held, say):
            say(f"{plan.slug}: it answers")
    except (EngineError, DeviceError) as error:
        raise BuildError(
            "it does not answer one request of a tiny model",
            where=plan.slug,
            found=": ".join(part for part in (error.what, error.found) if part),
            next_step="Correct the recipe or the build's locks, then build again.",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
