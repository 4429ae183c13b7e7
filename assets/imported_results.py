"""imported_results: result files that people have, through the importers into the import store."""

from typing import Any

import dagster as dg
from pydantic import Field

from assets.evidence import column_schema, markdown_table
from pipeline.cell import GpuRun
from pipeline.errors import FrontierError
from pipeline.imports.facts import refuse_unknown
from pipeline.imports.inbox import Answer, answered
from pipeline.imports.outcome import refuse_days_outside
from pipeline.imports.reader import read_results
from pipeline.imports.source import declared_from_options
from pipeline.partitions import FIRST_RUN_DATE
from pipeline.registry.shipped import shipped_registry
from pipeline.tables.points import POINTS
from pipeline.tables.requests import REQUESTS
from resources.clock import Clock
from resources.import_store import ImportStore, report_of
from resources.inbox import Inbox
from resources.progress import Progress
from resources.result_files import ResultFiles, shown

REPORT_COLUMNS = ("file", "format", "rows_read", "imported", "invalid", "rejected")


class ImportRequest(dg.Config):
    """What to import: files or folders, and what is declared for all of them (see ``frontier import --help``)."""

    paths: list[str] = Field(description="files or folders on the host of the run")
    declared: dict[str, str] = Field(default={}, description="facts that the files do not say, e.g. gpu: h100")


@dg.asset(
    group_name="raw",
    kinds={"python", "parquet"},
    metadata=column_schema(POINTS, REQUESTS),
    description="Result files of benchmark tools, row by row: a point, an invalid point with reasons, or a rejection.",
)
def imported_results(
    context: dg.AssetExecutionContext,
    config: ImportRequest,
    result_files: ResultFiles,
    import_store: ImportStore,
    inbox: Inbox,
    progress: Progress,
    clock: Clock,
) -> dg.MaterializeResult:
    """One materialization is one import; its report says what became of every row of every file."""
    registry = shipped_registry()
    declared = refuse_unknown(declared_from_options(config.declared), registry, "command line")
    reports, refusals, cells = [], {}, set()
    for path in progress.over(result_files.find(config.paths), "reading result files"):
        try:
            source = result_files.read(path)
            said = refuse_unknown(result_files.declared(path, declared), registry, source.name)
            outcome = read_results(source, said, registry)
            refuse_days_outside(outcome.points, FIRST_RUN_DATE, clock.today(), source.name)
            touched = import_store.put(source, outcome)
            inbox.record(path, answered(source, outcome, (cell.key for cell in touched)))
            cells |= touched
            reports.append(report_of(source, outcome))
        except FrontierError as error:
            refusals[shown(str(path))] = str(error)
            inbox.record(path, Answer(refused=str(error)))
    return dg.MaterializeResult(metadata=_metadata(reports, refusals, cells))


def _metadata(reports: list[dict[str, Any]], refusals: dict[str, str], cells: set[GpuRun]) -> dict[str, Any]:
    totals = {f"n_rows_{k}": sum(r[k] for r in reports) for k in ("imported", "invalid", "rejected")}
    return {
        "n_files": len(reports),
        "n_files_refused": len(refusals),
        "n_rows_read": sum(r["rows_read"] for r in reports),
        **totals,
        "cells": dg.MetadataValue.json(sorted(c.key for c in cells)),
        "report": markdown_table({k: r[k] for k in REPORT_COLUMNS} for r in reports),
        "reports": dg.MetadataValue.json(reports),
        "refusals": dg.MetadataValue.json(refusals),
    }
