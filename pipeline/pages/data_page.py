"""The page about the data: what each file and each of its columns is, how to check and recompute it, how to cite it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.page import SCHEMA_VERSION
from pipeline.pages.paths import DATA_PATH, root_from
from pipeline.pages.published_tables import PUBLISHED
from pipeline.pages.structured_data import script_text
from pipeline.pages.templates_engine import environment

TITLE = "The data"
DESCRIPTION = (
    "Raw points, repeats, runs, frontiers, readings, costs, prices, changes and verdicts on regressions as Parquet, "
    "CSV and a DuckDB file, every column with its unit and meaning."
)
CITATION_FILE = "CITATION.cff"

_MEDIA = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv", "duckdb": "application/octet-stream"}


@dataclass(frozen=True)
class DataFile:
    """One published file: its size, its hash, and its rows where it holds one table."""

    n_bytes: int
    sha256: str
    n_rows: int | None


def render_data_page(files: Mapping[str, DataFile], as_of: dt.date | None, site: SiteFacts) -> str:
    """data/index.html. ``files`` are those of the folder by name, as they were written."""
    return (
        environment()
        .get_template("data.html")
        .render(
            site=site,
            root=root_from(DATA_PATH),
            title=TITLE,
            description=DESCRIPTION,
            tables=PUBLISHED,
            files=files,
            as_of=as_of,
            schema_version=SCHEMA_VERSION,
            structured_data=_structured_data(files, as_of, site),
        )
    )


def _structured_data(files: Mapping[str, DataFile], as_of: dt.date | None, site: SiteFacts) -> Markup:
    base = f"{site.base_url}{DATA_PATH}" if site.base_url else ""
    dataset: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": f"{site.name}: throughput, speed and cost of serving large language models",
        "description": DESCRIPTION,
        "url": base or "./",
        "license": f"{base}#licence",
        "isAccessibleForFree": True,
        "creator": {"@type": "Organization", "name": site.name},
        "variableMeasured": ["tokens/s per GPU", "tokens/s per user", "USD per million tokens", "time to first token"],
        "distribution": [_download(name, file, base) for name, file in sorted(files.items())],
    }
    if as_of:
        dataset["dateModified"] = as_of.isoformat()
    return script_text(json.dumps(dataset, ensure_ascii=False))


def _download(name: str, file: DataFile, base: str) -> dict[str, Any]:
    return {
        "@type": "DataDownload",
        "name": name,
        "contentUrl": f"{base}{name}",
        "encodingFormat": _MEDIA.get(name.rpartition(".")[2], "text/plain"),
        "contentSize": f"{file.n_bytes} B",
        "sha256": file.sha256,
    }


def citation_cff(as_of: dt.date | None, site: SiteFacts) -> str:
    """CITATION.cff of the published data (format 1.2.0)."""
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        f"title: {json.dumps(f'{site.name}: throughput, speed and cost of serving large language models')}",
        f"message: {json.dumps('Cite the data with the day of its prices; imported rows name their source.')}",
        "authors:",
        f"  - name: {json.dumps(site.name)}",
        f"version: {json.dumps(SCHEMA_VERSION)}",
    ]
    lines += [f"date-released: {as_of.isoformat()}"] if as_of else []
    lines += [f"url: {json.dumps(site.base_url)}"] if site.base_url else []
    return "\n".join(lines) + "\n"
