"""One thing that is not as it should be, and what mends it: what the audits yield."""

from dataclasses import dataclass

PUBLISH = "frontier publish"
MEND = "frontier check --mend"


@dataclass(frozen=True)
class Finding:
    """One stale, altered or damaged thing: where, what is not as it was, what mends it, and the cell to derive again.

    ``mend`` is PUBLISH or MEND, which check --mend does, or a sentence on what only a person can do.
    """

    where: str
    what: str
    mend: str
    cell: str | None = None

    @property
    def is_mendable(self) -> bool:
        """Whether deriving and publishing mends it."""
        return self.mend in (PUBLISH, MEND)

    def __str__(self) -> str:
        """One line."""
        return f"{self.where}: {self.what}. Mend: {self.mend}"
