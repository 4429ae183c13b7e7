"""The versions of everything that the pages of one GPU are made from, as they are at this moment."""

import datetime as dt

from assets.cost_tables import COST
from assets.frontier import FRONTIER
from pipeline.cost.price_book import ALL_CORRECTIONS, corrections_of, prices_as_of, version_of
from pipeline.pages.page_inputs import PageInputs
from pipeline.tables.costs import COSTS
from pipeline.tables.knots import KNOTS
from pipeline.tables.points import POINTS
from pipeline.tables.readings import READINGS
from pipeline.tables.runs import RUNS
from resources.atomic_files import sha256_of
from resources.page_store import PageStore
from resources.price_book import PriceBook
from resources.result_store import RAW, ResultStore
from resources.source_version import code_version, registry_version

READ = ((RAW, POINTS), (RAW, RUNS), (FRONTIER, KNOTS), (FRONTIER, READINGS), (COST, COSTS))
"""Stage and table of every stored file that page_data reads."""


def price_version(prices: PriceBook, gpu: str, as_of: dt.date, known_on: dt.date = ALL_CORRECTIONS) -> str:
    """Hash of all that a page says of a GPU's prices on a day. Raises PriceError, StoreError."""
    book = prices.tables([gpu])[gpu]
    said = (version_of(prices_as_of(book, as_of, known_on)), corrections_of(book), prices.computed_rate(gpu, as_of))
    return sha256_of(repr(said).encode())[:16]


def inputs_now(gpu: str, as_of: dt.date, prices: str, store: ResultStore, pages: PageStore) -> PageInputs:
    """Versions of what is stored now, with that of the prices of a day. Raises StoreError."""
    return PageInputs(
        gpu=gpu,
        as_of=as_of,
        files=store.hashes(path for stage, table in READ for path in store.paths(stage, gpu, table)),
        prices=prices,
        code=code_version(),
        registry=registry_version(),
        pages=pages.hashes(gpu),
    )
