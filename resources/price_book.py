"""The dated price book: one CSV file that people edit, read whole each time."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import dagster as dg
import pyarrow as pa

from pipeline.cost.price_book import added, price_table, version_of
from pipeline.errors import StoreError
from pipeline.registry.entries import Price
from pipeline.registry.loader import parse_prices
from pipeline.registry.shipped import shipped_registry
from resources.atomic_files import write_bytes


class PriceBook(dg.ConfigurableResource):
    """The price rows of ``file``."""

    file: str

    def prices(self) -> tuple[Price, ...]:
        """All rows, validated. Raises PriceError, or StoreError where the file cannot be read."""
        registry = shipped_registry()
        return parse_prices(self._text(), Path(self.file).name, gpus=registry.gpus, tiers=registry.tiers)

    def tables(self, gpus: Iterable[str]) -> dict[str, pa.Table]:
        """The rows of each GPU (PRICES), no rows where it has no price."""
        prices = self.prices()
        return {gpu: price_table(p for p in prices if p.gpu == gpu) for gpu in gpus}

    def versions(self, gpus: Iterable[str]) -> dict[str, str]:
        """Hash of each GPU's rows: equal rows, equal version."""
        return {gpu: version_of(table) for gpu, table in self.tables(gpus).items()}

    def add(self, body: Mapping[str, object]) -> Price:
        """Append one row (gpu, tier, usd_per_gpu_hour, valid_from, source); the open row before it ends there.

        Raises PriceError, and then the file is as it was.
        """
        price, text = added(self._text(), body, Path(self.file).name, shipped_registry())
        write_bytes(Path(self.file), text.encode())
        return price

    def _text(self) -> str:
        try:
            return Path(self.file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(
                f"cannot read the price book ({error})", where=self.file, next_step="Restore the file."
            ) from error
