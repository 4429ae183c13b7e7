"""Run the measurements, or the parts named by --only, print their table and put them into BENCH.md."""

import argparse
import datetime as dt
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import dagster_cost, growth, requests, site, vllm_sweep
from tests.bench.report import COLUMNS, Row, merged

PARTS: Mapping[str, Callable[[Path, argparse.Namespace], list[Row]]] = {
    "requests": lambda folder, options: requests.measure(folder, options.rows),
    "cell": lambda folder, _: [dagster_cost.measure_cell(folder)],
    "prices": lambda folder, options: dagster_cost.measure_price_change(folder, options.days),
    "site": lambda folder, options: site.measure_site(folder, options.pages),
    "growth": lambda folder, options: growth.measure_growth(folder, options.dates),
    "vllm": lambda folder, _: vllm_sweep.measure_against_vllm(folder, os.environ.get("FRONTIER_ENGINES_HOME", "")),
}


def main() -> None:
    options = _options()
    for part in options.only:
        with tempfile.TemporaryDirectory(prefix="frontier-bench-") as temp:
            rows = PARTS[part](Path(temp) / part, options)
        if rows:
            _print(part, rows)
        if rows and options.write:
            _write(Path(options.write), part, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", type=_parts, default=list(PARTS), help=f"some of {','.join(PARTS)}; default: all")
    parser.add_argument("--rows", type=int, default=10_000_000, help="request rows")
    parser.add_argument("--days", type=int, default=365, help="dates of the price change")
    parser.add_argument("--pages", type=int, default=1_000, help="pages to publish")
    parser.add_argument("--dates", type=int, default=1_000, help="run dates of every GPU; a tenth and a hundredth too")
    parser.add_argument("--write", default="BENCH.md", help="file of the table; empty: do not write")
    return parser.parse_args()


def _parts(text: str) -> list[str]:
    wanted = text.split(",")
    if unknown := sorted(set(wanted) - set(PARTS)):
        raise argparse.ArgumentTypeError(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return [part for part in PARTS if part in wanted]


def _print(part: str, rows: Sequence[Row]) -> None:
    table = Table(*COLUMNS[:-1])
    for row in rows:
        table.add_row(part, *row)
    Console().print(table)


def _write(path: Path, part: str, rows: Sequence[Row]) -> None:
    """After each part, so that an interrupted run keeps what it measured."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    path.write_text(merged(text, {part: rows}, PARTS, dt.datetime.now(dt.UTC), machine), encoding="utf-8")


if __name__ == "__main__":
    main()
