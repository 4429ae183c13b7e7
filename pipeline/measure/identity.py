"""The name of a point: one hash of what it is and where it came from. Attempts of one identity are attempts.py's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pipeline.tables.points import IDENTITY


def point_id(row: Mapping[str, Any]) -> str:
    """First 16 hex digits of SHA-256 over the canonical JSON of identity and source row."""
    named = {key: row.get(key) for key in (*IDENTITY, "source_sha256", "source_row")}
    canonical = json.dumps(named, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
