"""Asking a build's own argument parser what it makes of a launch line; no engine is started, no GPU is needed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.builds.flags import refuse_unknown_flags
from pipeline.errors import BuildError
from pipeline.registry.builds import Environment
from resources.programs import ask

PARSE = """
import contextlib, io, json, sys
said, refused = io.StringIO(), None
try:
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        parser.parse_args(sys.argv[1:])
except SystemExit:
    refused = (said.getvalue().strip().splitlines() or ["no reason given"])[-1].removeprefix(f"{parser.prog}: error: ")
except Exception as error:
    refused = f"{type(error).__name__}: {error}"
print(json.dumps({"known": sorted({s for a in parser._actions for s in a.option_strings}), "refused": refused}))
"""
"""Runs in the build after its parser_code, which leaves an argparse parser under the name parser."""


@dataclass(frozen=True)
class Parsed:
    """The parser's answer: every flag that it knows, and why it refuses the arguments; None where it takes them."""

    known: tuple[str, ...]
    refused: str | None


def check_launch_line(
    python: Path, environment: Environment, arguments: Sequence[str], build: str, timeout_s: float
) -> None:
    """Raises BuildError where the parser refuses the arguments, or the environment has none to ask.

    ``arguments`` are those after the server's command; ``build`` names the build in the sentence.
    """
    parsed = parse(python, environment, arguments, build, timeout_s)
    refuse_unknown_flags(arguments, parsed.known, build)
    if parsed.refused:
        raise BuildError("the launch line is refused", where=build, found=parsed.refused, next_step="Correct it.")


def parse(python: Path, environment: Environment, arguments: Sequence[str], build: str, timeout_s: float) -> Parsed:
    """What the build's own parser makes of the arguments. Raises BuildError where there is none, or it does not run."""
    if environment.parser_code is None:
        raise BuildError("has no argument parser to ask", where=build, next_step="Add parser_code to its block.")
    command = [str(python), "-P", "-c", environment.parser_code + PARSE, *arguments]
    ended = ask(command, environment.variables, timeout_s)
    if ended.code:
        raise BuildError(
            f"its argument parser does not run (exit code {ended.code})",
            where=build,
            found=ended.tail(),
            next_step="Correct parser_code of its block.",
        )
    answer = json.loads(ended.output.strip().splitlines()[-1])
    return Parsed(tuple(answer["known"]), answer["refused"])
