"""What a person typed, held against what it is for: the sentence names the argument. Asks nothing of the outside."""

from pipeline.errors import FrontierError

MAX_LINE = 500
"""Characters of a reason or a source."""


def one_line(option: str, text: str) -> str:
    """A reason or a source, without blanks around it. Raises FrontierError for an empty, long or unprintable one."""
    line = text.strip()
    if not line or len(line) > MAX_LINE or not line.isprintable():
        raise FrontierError(
            "not one line of text",
            where=option,
            expected=f"1 to {MAX_LINE} characters on one line",
            found=repr(text) if len(line) <= MAX_LINE else f"{len(line)} characters",
            next_step=f"Say it in {option}.",
        )
    return line
