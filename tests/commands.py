"""The command line in the process of a test: a program of its own would load the same code once more."""

import sys

import pytest

from pipeline import cli


def exit_code_of(*arguments: str) -> int:
    """Run one command of `frontier` to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["frontier", *arguments])
        try:
            cli.main()
        except SystemExit as ending:
            return int(ending.code or 0)
    return 0
