"""The dated price book: one CSV file that people edit, read whole each time, and the inputs of the computed tier."""

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path

import dagster as dg
import pyarrow as pa

from pipeline.cost.price_book import price_table, version_of
from pipeline.cost.price_edits import Edit, added, corrected, moved
from pipeline.cost.tco import ComputedRate, computed_prices, rate_as_of
from pipeline.errors import StoreError
from pipeline.registry.entries import Price
from pipeline.registry.price_rows import PriceFile, parse_prices, read_price_file
from pipeline.registry.shipped import shipped_registry
from pipeline.registry.tco import Inputs, parse_tco
from resources.atomic_files import write_bytes


class PriceBook(dg.ConfigurableResource):
    """The price rows of ``file``, and those computed from the inputs in ``tco_file`` (empty: none)."""

    file: str
    tco_file: str = ""

    def prices(self) -> tuple[Price, ...]:
        """All rows, validated: the quoted ones, then the computed ones.

        Raises PriceError, RegistryError for the inputs of computed rows, or StoreError where a file cannot be read.
        """
        registry = shipped_registry()
        quoted = parse_prices(
            _text(self.file), self._name, gpus=registry.gpus, tiers=registry.tiers, renamed=registry.renamed_gpus
        )
        name = Path(self.tco_file).name
        return quoted + tuple(
            price for gpu, inputs in self.tco().items() for price in computed_prices(gpu, inputs, name)
        )

    def tco(self) -> dict[str, Inputs]:
        """The inputs of the computed tier by GPU. Raises RegistryError or StoreError."""
        if not self.tco_file:
            return {}
        return parse_tco(self._tco_text(), Path(self.tco_file).name, shipped_registry().gpus)

    def computed_rate(self, gpu: str, as_of: dt.date) -> ComputedRate | None:
        """What the computed price of a GPU was computed from on a day; None where it has none."""
        inputs = self.tco().get(gpu)
        return rate_as_of(inputs, as_of) if inputs else None

    def tables(self, gpus: Iterable[str]) -> dict[str, pa.Table]:
        """The rows of each GPU (PRICES), no rows where it has no price."""
        prices = self.prices()
        return {gpu: price_table(p for p in prices if p.gpu == gpu) for gpu in gpus}

    def versions(self, gpus: Iterable[str]) -> dict[str, str]:
        """Hash of each GPU's rows: equal rows, equal version."""
        return {gpu: version_of(table) for gpu, table in self.tables(gpus).items()}

    def checked(self) -> PriceFile:
        """The rows of the file with their lines, and every fault of it. Raises StoreError."""
        registry = shipped_registry()
        return read_price_file(
            _text(self.file), self._name, gpus=registry.gpus, tiers=registry.tiers, renamed=registry.renamed_gpus
        )

    def add(self, body: Mapping[str, object]) -> Edit:
        """Add one row (gpu, tier, usd_per_gpu_hour, valid_from, source, valid_to where it has one).

        Raises PriceError, and then the file is as it was.
        """
        edit = added(_text(self.file), body, self._name, shipped_registry())
        write_bytes(Path(self.file), edit.text.encode())
        return edit

    def correct(self, body: Mapping[str, object], today: dt.date, first_day: dt.date | None = None) -> Edit:
        """Correct one row (gpu, tier, usd_per_gpu_hour, valid_from, source, correction_reason); it stays, marked.

        With a ``first_day`` the row begins there, and the row before it ends there where the two meet. Raises
        PriceError, and then the file is as it was.
        """
        text, registry = _text(self.file), shipped_registry()
        if first_day is None:
            edit = corrected(text, body, self._name, registry, today)
        else:
            edit = moved(text, body, first_day, self._name, registry, today)
        write_bytes(Path(self.file), edit.text.encode())
        return edit

    def refuse_unreadable(self) -> None:
        """Raises StoreError where a file cannot be read; what is in them is not looked at."""
        _text(self.file)
        if self.tco_file:
            self._tco_text()

    def _tco_text(self) -> str:
        return _text(self.tco_file, "the inputs of computed prices", "FRONTIER_TCO")

    @property
    def _name(self) -> str:
        return Path(self.file).name


def _text(file: str, what: str = "the price book", variable: str = "FRONTIER_PRICES") -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        next_step = f"Restore the file, or correct {variable} where that names it."
        raise StoreError(f"cannot read {what} ({said})", where=file, next_step=next_step) from error
