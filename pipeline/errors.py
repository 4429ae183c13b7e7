"""Every error a person can see.

    FrontierError                 exit code 1, one sentence
    ├── RegistryError             a registry file has an unknown key or value
    ├── UnreadableFileError            a result file cannot be read at all
    ├── UnsupportedFormatError         a result file of a known tool that is not read yet, or of none
    ├── DeclarationMissingError        a file does not say what a point needs, and nobody declared it
    ├── PriceError                a price row contradicts the book
    ├── StoreError                something stored is missing, damaged or not writable
    ├── BuildError                an engine build cannot be made, or does not prove itself
    ├── SweepRefusedError              a sweep was asked for that would not say what it claims to
    ├── SimulatorError            the simulator is not there, is another version, or ended without an answer
    └── NothingToPublishError          no point exists for what was asked

A bad *measurement* is not an error: it is a row with reason codes (pipeline/measure/validity.py).
"""


class FrontierError(Exception):
    """What went wrong, where, expected against found, and the next step.

    ``str(error)`` is one line, fit for a terminal and for a Dagster failure.
    """

    def __init__(self, what: str, *, where: str, expected: str = "", found: str = "", next_step: str):
        self.what = what
        self.where = where
        self.expected = expected
        self.found = found
        self.next_step = next_step
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.expected:
            text += f"; expected {self.expected}"
        if self.found:
            text += f", found {self.found}" if self.expected else f"; found {self.found}"
        return " ".join(f"{text}. {self.next_step}".split())

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword arguments when an error crosses a process border."""
        return (_rebuild, (type(self), self.what, self.where, self.expected, self.found, self.next_step))


def _rebuild(
    kind: type[FrontierError], what: str, where: str, expected: str, found: str, next_step: str
) -> FrontierError:
    return kind(what, where=where, expected=expected, found=found, next_step=next_step)


class RegistryError(FrontierError):
    """A registry file has an unknown key or value."""


class UnreadableFileError(FrontierError):
    """A result file is empty, truncated, too large, binary or not decodable."""


class UnsupportedFormatError(FrontierError):
    """A result file is of a tool that is not read yet, or of no known tool."""


class DeclarationMissingError(FrontierError):
    """A fact that a point needs is neither in the file nor declared."""


class PriceError(FrontierError):
    """A price row is malformed or contradicts another row of the book."""


class StoreError(FrontierError):
    """Something stored is missing, damaged or cannot be written."""


class BuildError(FrontierError):
    """An engine build cannot be installed, does not prove itself, or refuses a launch line."""


class SweepRefusedError(FrontierError):
    """A sweep was asked for that would not say what it claims to: a past day, or no recipe."""


class SimulatorError(FrontierError):
    """The simulator is not there, is another version than the pinned one, or ended without an answer."""


class NothingToPublishError(FrontierError):
    """No point exists for the pair that was asked for."""
