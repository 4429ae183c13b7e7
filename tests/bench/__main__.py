"""Run every measurement, print the table and write it to BENCH.md."""

import argparse
import os
import platform
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import dagster_cost, requests

HEADER = ("what", "measured", "ratio", "goal")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="request rows")
    parser.add_argument("--days", type=int, default=365, help="dates of the price change")
    parser.add_argument("--pages", type=int, default=150, help="pages to publish")
    parser.add_argument("--write", default="BENCH.md", help="file of the table; empty: do not write")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="frontier-bench-") as temp:
        folder = Path(temp)
        rows = requests.measure(folder / "requests", options.rows)
        rows.append(dagster_cost.measure_cell(folder / "cell"))
        rows += dagster_cost.measure_price_change(folder / "prices", options.days)
        rows.append(dagster_cost.measure_publish(folder / "publish", options.pages))
    table = Table(*HEADER)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if options.write:
        Path(options.write).write_text(_markdown(rows), encoding="utf-8")


def _markdown(rows: list[tuple[str, str, str, str]]) -> str:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    lines = [
        "# Speed",
        "",
        f"Written by `make bench` on {machine}. Compare ratios, not seconds: the machine is shared.",
        "",
        f"| {' | '.join(HEADER)} |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
