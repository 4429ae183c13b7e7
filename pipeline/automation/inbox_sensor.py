"""The sensor of the inbox: new result files are imported, then their cells derived. Off until somebody switches it on.

Belongs here: the runs that are asked for. Not here: which file is next (imports/inbox.py), the files and what became of
them (resources/inbox.py), and the jobs (__init__.py of this package). Pages and the site follow by automation.
"""

import dagster as dg

from pipeline.automation import DERIVE_CELL, IMPORT_RESULTS, jobs_named
from pipeline.automation.sweep_requests import ACTIVE, WHY_TAG
from pipeline.imports.inbox import Answer, Decision, as_cursor, decide, digest, remembered
from pipeline.pages.formats import counted
from resources.inbox import Inbox

WHY = {WHY_TAG: "inbox"}


@dg.sensor(
    name="inbox",
    jobs=jobs_named(IMPORT_RESULTS, DERIVE_CELL),
    minimum_interval_seconds=30,
    description="Result files that are put into the inbox folder and have not changed between two looks are imported "
    "once, with the import.toml beside them; a refused one gets a note <file>.refused. Off until it is switched on.",
)
def new_files(context: dg.SensorEvaluationContext, inbox: Inbox) -> dg.SensorResult | dg.SkipReason:
    """One import of all new files; one of each whose import ended without an answer; one derivation of each cell."""
    importing = dg.RunsFilter(job_name=IMPORT_RESULTS, statuses=ACTIVE)
    if context.instance.get_run_records(importing, limit=1):
        return dg.SkipReason("An import runs; its files are looked at when it has ended.")
    decision = decide(remembered(context.cursor), inbox.looks(), inbox.key, inbox.answer)
    for name in decision.given_up:
        inbox.record(inbox.place(name), Answer(refused=_gave_up(name)))
    requests = [*_imports(decision, inbox), *_derivations(decision)]
    reason = None if requests else _nothing_new(decision)
    return dg.SensorResult(run_requests=requests, skip_reason=reason, cursor=as_cursor(decision.known))


def _imports(decision: Decision, inbox: Inbox) -> list[dg.RunRequest]:
    batches = [decision.together] if decision.together else []
    return [_import(batch, decision, inbox) for batch in (*batches, *([name] for name in decision.alone))]


def _import(names: list[str], decision: Decision, inbox: Inbox) -> dg.RunRequest:
    asked = [f"{decision.known[name].key} {decision.known[name].n_asked}" for name in names]
    paths = [str(inbox.place(name)) for name in names]
    return dg.RunRequest(
        job_name=IMPORT_RESULTS,
        run_key=f"import {digest(asked)}",
        run_config={"ops": {"imported_results": {"config": {"paths": paths}}}},
        tags=WHY,
    )


def _derivations(decision: Decision) -> list[dg.RunRequest]:
    """Of every cell that an import reached. The key names the files: another file of the cell derives it again."""
    told = digest(sorted(known.key for known in decision.known.values() if known.told))
    return [
        dg.RunRequest(job_name=DERIVE_CELL, run_key=f"derive {cell} {told}", partition_key=cell, tags=WHY)
        for cell in sorted(decision.cells)
    ]


def _gave_up(name: str) -> str:
    return f"{name}: each of its imports ended without an answer. Open the runs of {IMPORT_RESULTS} (frontier ui)."


def _nothing_new(decision: Decision) -> str:
    if decision.n_waiting:
        return f"{counted(decision.n_waiting, 'file')} may still grow: looked at again."
    return f"Nothing new among {counted(len(decision.known), 'file')}."
