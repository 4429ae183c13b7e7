"""Files of a home folder as tests compare them, and whether a site is whole."""

import hashlib
from pathlib import Path

CHANGING = ("published.duckdb", "SHA256SUMS", "data/index.html")
"""DuckDB gives equal tables different bytes; the other two name its hash."""


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by relative path, temp files and what changes by itself left out."""
    found = (p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
    named = {p.relative_to(folder).as_posix(): p for p in found}
    return {name: path.read_bytes() for name, path in named.items() if not name.endswith(CHANGING)}


def is_whole(site: Path) -> bool:
    """Whether every download has the checksum that the site tells of it."""
    lines = (site / "data" / "SHA256SUMS").read_text().splitlines()
    told = {line.split("  ")[1]: line.split("  ")[0] for line in lines}
    return all(hashlib.sha256((site / "data" / name).read_bytes()).hexdigest() == sha for name, sha in told.items())


def temporary(home: Path) -> list[Path]:
    """Temp folders that a publication left beside the site."""
    return sorted(p for p in home.glob(".tmp-*"))
