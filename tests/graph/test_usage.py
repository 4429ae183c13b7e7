"""A command line that is not understood: one sentence on standard error, exit code 2, nothing else."""

import pytest

from tests.commands import exit_code_of

ADD = "prices add h100 retail {} --source x --from 2026-12-01"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("shw", "frontier: no such command 'shw'. Did you mean 'show'?"),
        ("prices lst", "frontier prices: no such command 'lst'. Did you mean 'list'?"),
        ("--hme x", "frontier: no option --hme. Did you mean '--home'?"),
        ("ui --prt 3", "frontier ui: no option --prt. Did you mean '--port'?"),
        ("devices list --all", "frontier devices list: no option --all. Known: --csv, --json."),
        ("prices check -x", "frontier prices check: no option -x. Run frontier prices check --help."),
        ("runs --home x", "frontier runs: no option --home here. Put --home right after frontier."),
        ("show h100", "frontier show: MODEL is missing; expected frontier show GPU MODEL. Give MODEL."),
        (
            "devices quarantine cpu",
            "frontier devices quarantine: --reason is missing; "
            "expected frontier devices quarantine GPU --reason …. Give --reason.",
        ),
        (
            "prices list h100 b300",
            "frontier prices list: got unexpected extra argument(s) (b300). Run frontier prices list --help.",
        ),
        ("runs --last", "frontier runs: option '--last' requires an argument. Run the command with --help."),
        (
            "runs --last soon",
            "frontier runs --last: not a value that it takes; expected a whole number, found soon. Correct the value.",
        ),
        (
            "runs --last -4",
            "frontier runs --last: not a value that it takes; expected at least 1, found -4. Correct the value.",
        ),
        (
            "import --max-mib -5 x.csv",
            "frontier import --max-mib: not a value that it takes; expected at least 1, found -5. Correct the value.",
        ),
        (
            "ui --port -1",
            "frontier ui --port: not a value that it takes; expected at least 1, found -1. Correct the value.",
        ),
        (
            "cost h100 gpt2 --usd=",
            "frontier cost --usd: not a value that it takes; expected a number, found nothing. Correct the value.",
        ),
        ("show -1 gpt2", "frontier show: no option -1. Known: --csv, --json."),
        (
            ADD.format("-2.5"),
            "frontier prices add USD_PER_GPU_HOUR: below zero; expected a positive number, found -2.5. "
            "Correct the number.",
        ),
        (
            ADD.format("-inf"),
            "frontier prices add USD_PER_GPU_HOUR: below zero; expected a positive number, found -inf. "
            "Correct the number.",
        ),
    ],
)
def test_what_was_typed_wrong_is_one_sentence_with_the_next_step(capsys, typed, sentence):
    assert exit_code_of(*typed.split()) == 2
    said = capsys.readouterr()
    assert said.err == f"error: {sentence}\n"
    assert not said.out


def test_a_group_without_a_command_shows_its_help_and_no_error(capsys):
    assert exit_code_of("prices") == 2
    said = capsys.readouterr()
    assert "Usage: frontier prices" in said.out + said.err
    assert "error:" not in said.err


def test_help_that_was_asked_for_is_no_error():
    assert exit_code_of("prices", "add", "--help") == 0
