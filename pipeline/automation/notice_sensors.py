"""The sensors that tell people: verdicts on curves, and runs that failed. Both off until somebody switches them on.

Belongs here: what is told, and that it is told once. Not here: what a verdict is (frontier/verdicts.py) and how a
notice is sent (resources/notifier.py).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import dagster as dg

from pipeline.errors import NoticeError
from pipeline.frontier.verdict_rows import CurveVerdict
from pipeline.frontier.verdict_words import regression_words
from pipeline.pages.formats import counted
from resources.notifier import NEEDED_FOR_MAIL, SMTP, WEBHOOK, Notifier
from resources.past_runs import innermost_words
from resources.result_store import ResultStore
from resources.verdict_store import judged_gpus, standing_verdicts

NOT_SET_UP = (
    f"There is nobody to tell: set {WEBHOOK}, or {', '.join(SMTP + name for name in NEEDED_FOR_MAIL)} for mail, in the "
    "environment of the daemon and the code server."
)
SUBJECT = "Serving Frontier"
N_LINES_OF_ERROR = 3


@dg.sensor(
    name="verdict_notices",
    minimum_interval_seconds=60,
    description="Tells of every suspected, confirmed, unconfirmed and recovered regression, once each and channel. Off "
    "until it is switched on.",
)
def verdict_notices(
    context: dg.SensorEvaluationContext, result_store: ResultStore, notifier: Notifier
) -> dg.SkipReason:
    """The cursor holds, by channel, hashes of what was told and still stands; a channel that failed is tried again."""
    channels = notifier.channels()
    if not channels:
        return dg.SkipReason(NOT_SET_UP)
    stated = [v for gpu in judged_gpus(result_store) for v in standing_verdicts(result_store, gpu) if v.state]
    current = {_named(verdict): verdict for verdict in stated}
    told, said = json.loads(context.cursor or "{}"), []
    for channel in channels:
        known = [name for name in told.get(channel, []) if name in current]
        new = {name: verdict for name, verdict in current.items() if name not in known}
        try:
            _tell(notifier, channel, list(new.values()))
            known = [*known, *new]
            said.append(f"{channel}: told of {counted(len(new), 'verdict')}.")
        except NoticeError as error:
            context.log.error(str(error))
            said.append(f"{channel}: {error}")
        told[channel] = sorted(known)
    context.update_cursor(json.dumps(told))
    return dg.SkipReason(" ".join(said))


def _named(verdict: CurveVerdict) -> str:
    return hashlib.sha256(f"{verdict.first['curve_id']} {verdict.state}".encode()).hexdigest()[:16]


def _tell(notifier: Notifier, channel: str, verdicts: Sequence[CurveVerdict]) -> None:
    if not verdicts:
        return
    subject = f"{SUBJECT}: {counted(len(verdicts), 'verdict')} on curves"
    notifier.send(channel, subject, [regression_words(v) for v in verdicts], [_facts(v) for v in verdicts])


def _facts(verdict: CurveVerdict) -> Mapping[str, object]:
    """The verdict as JSON for a webhook."""
    names = ("model", "gpu", "workload", "engine", "precision", "run_id", "run_date", "against_run_date", "state")
    targets = ("target_tok_s_user", "against_throughput_tok_s_gpu", "throughput_tok_s_gpu", "ratio")
    return {name: verdict.first[name] for name in names} | {
        "targets": [{name: row[name] for name in targets} for row in verdict.counted]
    }


@dg.run_failure_sensor(
    name="failed_runs",
    description="Tells of every run that failed. Off until it is switched on.",
    default_status=dg.DefaultSensorStatus.STOPPED,
)
def failed_runs(context: dg.RunFailureSensorContext, notifier: Notifier) -> dg.SkipReason:
    """One notice a run and channel; a channel that fails is not tried again for that run."""
    channels = notifier.channels()
    if not channels:
        return dg.SkipReason(NOT_SET_UP)
    run, said = context.dagster_run, []
    about = " ".join(filter(None, [run.job_name, run.tags.get("dagster/partition")]))
    lines = [f"{about} failed. Run {run.run_id}.", *_causes(context)]
    facts = [{"job": run.job_name, "partition": run.tags.get("dagster/partition"), "run_id": run.run_id}]
    for channel in channels:
        try:
            notifier.send(channel, f"{SUBJECT}: {about} failed", lines, facts)
            said.append(f"{channel}: told of run {run.run_id}.")
        except NoticeError as error:
            context.log.error(str(error))
            said.append(f"{channel}: {error}")
    return dg.SkipReason(" ".join(said))


def _causes(context: dg.RunFailureSensorContext) -> list[str]:
    """The innermost error of every step that failed, its first lines; the run's own words where no step failed."""
    found = [innermost_words(event, N_LINES_OF_ERROR) for event in context.get_step_failure_events()]
    told = [words for words in found if words is not None]
    return told or [context.failure_event.message or "the run failed without words of its own"]
