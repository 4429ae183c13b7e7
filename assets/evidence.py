"""What every stage shows of itself in the UI: a check's evidence, a table's columns, a data version."""

import hashlib
from collections.abc import Iterable, Mapping

import dagster as dg
import pyarrow as pa

from pipeline.tables.columns import Table

N_SHOWN = 5


def promise(name: str, violations: list[str], bound: str) -> dg.AssetCheckResult:
    """A blocking check's result: the bound, the count of violations and the first few of them."""
    return dg.AssetCheckResult(
        check_name=name,
        passed=not violations,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "promise": bound,
            "n_violations": len(violations),
            "first_violations": dg.MetadataValue.json(violations[:N_SHOWN]),
        },
        description=violations[0] if violations else None,
    )


def blocking(asset: str, *names: str) -> list[dg.AssetCheckSpec]:
    """Check specs that stop everything downstream when one of them fails."""
    return [dg.AssetCheckSpec(name, asset=asset, blocking=True) for name in names]


def column_schema(*tables: Table) -> dict[str, dg.TableSchemaMetadataValue]:
    """The columns of the stage's tables as definition metadata; the first table's are the asset's columns."""
    shown = {"dagster/column_schema": _schema(tables[0])}
    return shown | {f"columns_{t.name}": _schema(t) for t in tables[1:]}


def _schema(table: Table) -> dg.TableSchemaMetadataValue:
    return dg.MetadataValue.table_schema(
        dg.TableSchema(
            columns=[
                dg.TableColumn(
                    c.name,
                    str(c.type),
                    f"{c.description} [{c.unit}]" if c.unit else c.description,
                    constraints=dg.TableColumnConstraints(nullable=c.nullable),
                )
                for c in table.columns
            ]
        )
    )


def data_version(hashes: Iterable[str]) -> dg.DataVersion:
    """The version of a materialization: a hash of the hashes of the files that it wrote."""
    return dg.DataVersion(hashlib.sha256("".join(hashes).encode()).hexdigest()[:16])


def markdown_table(rows: Iterable[Mapping[str, object]]) -> dg.MarkdownMetadataValue:
    """Rows of equal keys as a Markdown table; a line that says so where there are none."""
    rows = list(rows)
    if not rows:
        return dg.MetadataValue.md("no rows")
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
    lines += ["| " + " | ".join(_cell(v) for v in row.values()) + " |" for row in rows]
    return dg.MetadataValue.md("\n".join(lines))


def ladder_preview(readings: pa.Table) -> dg.MarkdownMetadataValue:
    """The at_least readings as a table: one line a curve, one column a target."""
    lines: dict[str, dict[str, object]] = {}
    for row in readings.to_pylist():
        if row["reading"] == "at_least":
            line = lines.setdefault(row["curve_id"], {"series": f"{row['model']} {row['workload']} {row['engine']}"})
            line[f"{row['target_tok_s_user']:g} tok/s/user"] = row["throughput_tok_s_gpu"]
    return markdown_table(list(lines.values())[:50])


def _cell(value: object) -> str:
    text = f"{value:,.1f}" if isinstance(value, float) else "–" if value is None else str(value)
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
