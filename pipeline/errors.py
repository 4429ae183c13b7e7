"""Every error a person can see.

    FrontierError                 exit code 1, one sentence
    ├── UsageError                a command line that frontier does not understand; exit code 2
    ├── RegistryError             a registry file has an unknown key or value
    ├── UnreadableFileError            a result file cannot be read at all
    ├── UnsupportedFormatError         a result file of a known tool that is not read yet, or of none
    ├── DeclarationMissingError        a file does not say what a point needs, and nobody declared it
    ├── PriceError                a price row contradicts the book
    ├── StoreError                something stored is missing, damaged or not writable
    ├── InstanceError             the Dagster instance cannot be opened: settings, packages or its database
    ├── BuildError                an engine build cannot be made, or does not prove itself
    ├── SweepRefusedError              a sweep was asked for that would not say what it claims to
    ├── SweepFailedError               some recipes of a sweep could not be measured; the others are stored
    ├── DeviceError               a device is held by somebody else, quarantined, or does not come back
    ├── EngineError               a server was not started, or a model for it not made; ``kind`` says how
    ├── SimulatorError            the simulator is not there, is another version, or ended without an answer
    ├── HostError                 another host is not reached, or ends a sweep without saying how
    ├── LoadError                 the load generator is not there, or ended without a usable answer
    ├── NoticeError               a notice could not be sent
    ├── StoppedError              somebody stopped the command; exit code 130
    └── NothingToPublishError          no point exists for what was asked

A bad *measurement* is not an error: it is a row with reason codes (pipeline/measure/validity.py).
"""


class FrontierError(Exception):
    """What went wrong, where, expected against found, and the next step.

    ``str(error)`` is one line, fit for a terminal and for a Dagster failure. ``kind`` is the class of failure, where
    there is more than one of a type: a row's reason code, and whether a retry can mend it (sweep/mendable.py).
    """

    KIND = ""
    EXIT_CODE = 1

    def __init__(
        self, what: str, *, where: str, expected: str = "", found: str = "", next_step: str, kind: str | None = None
    ):
        self.what = what
        self.where = where
        self.expected = expected
        self.found = found
        self.next_step = next_step
        self.kind = self.KIND if kind is None else kind
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
        said = ("where", "expected", "found", "next_step", "kind")
        return (_rebuild, (type(self), self.what, {name: getattr(self, name) for name in said}))


def _rebuild(kind: type[FrontierError], what: str, said: dict[str, str]) -> FrontierError:
    return kind(what, **said)


class UsageError(FrontierError):
    """A command line with an unknown word, without one that it needs, or with a value of another kind."""

    EXIT_CODE = 2


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


class InstanceError(FrontierError):
    """The Dagster instance cannot be opened: a setting or a package is missing, or its database does not answer."""


class BuildError(FrontierError):
    """An engine build cannot be installed, does not prove itself, or refuses a launch line."""


class SweepRefusedError(FrontierError):
    """A sweep was asked for that would not say what it claims to: a past day, or no recipe."""


class SweepFailedError(FrontierError):
    """Some recipes of a sweep could not be measured; every finished point is stored."""


class DeviceError(FrontierError):
    """A device is held by somebody else, is quarantined, or still holds memory that nobody owns."""


class EngineError(FrontierError):
    """A server does not start, is not the one that was asked for, or its model cannot be made.

    ``kind`` is the class of failure (pipeline/sweep/server_end.py), fit for a reason code.
    """

    KIND = "crashed"


class SimulatorError(FrontierError):
    """The simulator is not there, is another version than the pinned one, or ended without an answer."""


class HostError(FrontierError):
    """Another host is not reached, lost, or ends without an answer; what it finished is kept."""

    KIND = "unreachable"


class LoadError(FrontierError):
    """The load generator is not there, cannot do what was asked, or ended without a usable answer."""


class NoticeError(FrontierError):
    """A notice could not be sent. Its text never holds an address, a user or a password."""


class StoppedError(FrontierError):
    """Somebody stopped the command; what was finished is stored."""

    EXIT_CODE = 130


class NothingToPublishError(FrontierError):
    """No point exists for the pair that was asked for."""
