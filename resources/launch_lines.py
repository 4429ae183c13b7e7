"""Asking a build's own argument parser what it makes of a launch line; no engine is started, no GPU is needed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.builds.flags import refuse_unknown_flags
from pipeline.errors import BuildError
from resources.build_questions import Ask

PARSE = """
import contextlib, io, json, sys
def refusal(arguments):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            parser.parse_args(arguments)
    except SystemExit:
        return (said.getvalue().strip().splitlines() or ["no reason given"])[-1].removeprefix(f"{parser.prog}: error: ")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
known = sorted({s for a in parser._actions for s in a.option_strings})
print(json.dumps({"known": known, "refused": [refusal(line) for line in json.loads(sys.argv[1])]}))
"""
"""Runs in the build after its parser_code, which leaves an argparse parser under the name parser."""


@dataclass(frozen=True)
class Parsed:
    """The parser's answer: every flag that it knows, and why it refuses each line; None for one that it takes."""

    known: tuple[str, ...]
    refused: tuple[str | None, ...]


def check_launch_lines(ask: Ask, parser_code: str | None, lines: Mapping[str, Sequence[str]], build: str) -> None:
    """Raises BuildError where the parser refuses one of the lines, or the build has none to ask.

    ``lines``: the arguments after the server's command, by a name for the sentence (empty: none), as ``build`` names
    the build. All in one question: starting an engine's parser takes its time.
    """
    parsed = parse(ask, parser_code, list(lines.values()), build)
    for (name, arguments), refused in zip(lines.items(), parsed.refused, strict=True):
        where = f"{build}, {name}" if name else build
        refuse_unknown_flags(arguments, parsed.known, where)
        if refused:
            raise BuildError("the launch line is refused", where=where, found=refused, next_step="Correct it.")


def parse(ask: Ask, parser_code: str | None, lines: Sequence[Sequence[str]], build: str) -> Parsed:
    """What the build's own parser makes of each line. Raises BuildError where there is none, or it does not run."""
    if parser_code is None:
        raise BuildError("has no argument parser to ask", where=build, next_step="Add parser_code to its block.")
    ended = ask(parser_code + PARSE, [json.dumps([list(line) for line in lines])])
    if ended.code:
        raise BuildError(
            f"its argument parser does not run (exit code {ended.code})",
            where=build,
            found=ended.tail(),
            next_step="Correct parser_code of its block.",
        )
    answer = json.loads(ended.output.strip().splitlines()[-1])
    return Parsed(tuple(answer["known"]), tuple(answer["refused"]))
