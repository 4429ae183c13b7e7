"""The hash of everything that a number depends on: names points, runs, and what is cached for them."""

from __future__ import annotations

import hashlib
import json


def fingerprint(value: object) -> str:
    """First 16 hex digits of SHA-256 over the canonical JSON of a value. Raises TypeError for what JSON cannot hold."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
