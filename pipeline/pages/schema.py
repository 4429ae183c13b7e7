"""JSON Schemas of the published JSON, derived from the dataclasses. Validation is the reader's."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from pipeline.pages.page import SCHEMA_VERSION, Page

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def page_schema() -> dict[str, Any]:
    """The schema of data.json (draft 2020-12): every field required, no other allowed, null only where declared."""
    derived = _closed(TypeAdapter(Page).json_schema(mode="serialization"))
    head = {"$schema": DRAFT, "$id": "page.schema.json", "title": "Page", "version": SCHEMA_VERSION}
    return {**head, **{key: value for key, value in derived.items() if key not in head}}


def _closed(node: Any) -> Any:
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {key: _closed(value) for key, value in node.items()}
    if "properties" in out and out.get("type") == "object":
        out["additionalProperties"] = False
        out["required"] = list(out["properties"])
    return out
