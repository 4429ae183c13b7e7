"""A command line that `frontier` does not understand, as one sentence: what, where, what is expected, the next step.

Belongs here: putting what the library of the command line found into our words. Not here: what a value means, which
each command says itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import typer

from pipeline.errors import UsageError
from pipeline.registry.loader import nearest

EXPECTED = {
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
}
"""What a value has to be, by the kind of fault that the library names."""


def is_help(error: typer.TyperException) -> bool:
    """Whether there is nothing to say: a group without a command has shown its help."""
    return type(error).__name__ == "NoArgsIsHelpError"


def usage_error(error: Any, typed: Sequence[str]) -> UsageError:
    """The library's error of a command line as ours; ``typed`` are the words of the command line."""
    context: Any = getattr(error, "ctx", None)
    if context is None:
        words = itertools.takewhile(lambda word: not word.startswith("-"), typed)
        return _otherwise(" ".join(["frontier", *words]), "the command with --help", error)
    path = context.command_path
    if hasattr(error, "possibilities"):
        return _unknown_option(context, error.option_name, typed)
    if getattr(error, "param", None) is None:
        return _otherwise(path, f"{path} --help", error)
    name = error.param.opts[0] if error.param.param_type_name == "option" else error.param.name.upper()
    if not error.message:
        return UsageError(f"{name} is missing", where=path, expected=_usage(context), next_step=f"Give {name}.")
    return _bad_value(f"{path} {name}", error)


def _unknown_option(context: Any, option: str, typed: Sequence[str]) -> UsageError:
    """An option that the command has not; a negative number looks like one."""
    path = context.command_path
    number = next((word for word in typed if word.startswith(option) and _is_number(word)), None)
    argument = next((a for a in _parameters(context, "argument") if _takes_number(a)), None)
    if number and argument:
        where = f"{path} {argument.name.upper()}"
        return UsageError(
            "below zero", where=where, expected="a positive number", found=number, next_step="Correct the number."
        )
    if context.parent and option in _options(context.find_root()):
        return UsageError(f"no option {option} here", where=path, next_step=f"Put {option} right after frontier.")
    known = _options(context)
    next_step = nearest(option, known) if known else f"Run {path} --help."
    return UsageError(f"no option {option}", where=path, next_step=next_step)


def _bad_value(where: str, error: Any) -> UsageError:
    """A value of another kind than the parameter's, or beyond its bounds."""
    found: dict[str, Any] = next(iter(getattr(error.__cause__, "errors", list)()), {})
    expected = EXPECTED.get(found.get("type", ""), error.message[:1].lower() + error.message[1:])
    return UsageError(
        "not a value that it takes",
        where=where,
        expected=expected.format(**found.get("ctx", {})),
        found=str(found.get("input", "")) or "nothing",
        next_step="Correct the value.",
    )


def _otherwise(where: str, help_command: str, error: Any) -> UsageError:
    """In the library's own words, the first of which are what is wrong and the others, if any, what to do."""
    what, _, advice = error.format_message().removesuffix(".").partition(". ")
    return UsageError(what[:1].lower() + what[1:], where=where, next_step=advice or f"Run {help_command}.")


def _usage(context: Any) -> str:
    arguments = [
        argument.name.upper() if argument.required else f"[{argument.name.upper()}]"
        for argument in _parameters(context, "argument")
    ]
    required = [option.opts[0] for option in _parameters(context, "option") if option.required]
    return " ".join([context.command_path, *arguments, *(f"{option} …" for option in required)])


def _options(context: Any) -> list[str]:
    return [word for option in _parameters(context, "option") for word in (*option.opts, *option.secondary_opts)]


def _parameters(context: Any, kind: str) -> list[Any]:
    return [parameter for parameter in context.command.params if parameter.param_type_name == kind]


def _takes_number(parameter: Any) -> bool:
    return parameter.type_descriptor.annotation in (int, float)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
