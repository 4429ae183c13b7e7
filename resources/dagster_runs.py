"""The Dagster instance as the command line uses it: its folder, and runs of our jobs that stay in its history."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import dagster as dg

from pipeline.errors import FrontierError, StoreError
from resources.atomic_files import write_bytes

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def prepare_instance(home: Path) -> Path:
    """The instance folder of a home, with its dagster.yaml; DAGSTER_HOME, where set, is left as it is."""
    if os.environ.get("DAGSTER_HOME"):
        return Path(os.environ["DAGSTER_HOME"])
    folder = home / "dagster"
    shipped = resources.files("resources").joinpath("dagster_instance.yaml").read_bytes()
    if not (folder / "dagster.yaml").exists():
        write_bytes(folder / "dagster.yaml", shipped)
    return folder


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of a home folder; inside the block DAGSTER_HOME names its folder, as everywhere in Dagster."""
    before = os.environ.get("DAGSTER_HOME")
    folder = prepare_instance(home)
    os.environ["DAGSTER_HOME"] = str(folder)
    try:
        with dg.DagsterInstance.from_config(str(folder)) as instance:
            yield instance
    finally:
        os.environ.pop("DAGSTER_HOME")
        if before is not None:
            os.environ["DAGSTER_HOME"] = before


@dataclass(frozen=True)
class Runs:
    """Runs jobs of the definitions in this process, under an instance. Ops fail as FrontierError where they can."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance

    def run(self, job: str, *, partition: str | None = None, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Run one job to its end; returns the metadata of its last materialization, by name.

        ``config`` is the op config by asset name. Raises FrontierError; anything else is a defect and comes through.
        """
        ops = {"ops": {name: {"config": dict(body)} for name, body in (config or {}).items()}}
        try:
            result = self.definitions.resolve_job_def(job).execute_in_process(
                instance=self.instance,
                partition_key=partition,
                run_config={**QUIET, **ops},
                tags={"frontier/launched_by": "command line"},
                raise_on_error=True,
            )
        except dg.DagsterError as error:
            raise _cause(error, job, partition) from error
        except BaseException as error:
            if type(error).__name__ == "DagsterExecutionInterruptedError":  # not exported by dagster
                raise KeyboardInterrupt from error
            raise
        events = result.get_asset_materialization_events()
        metadata = events[-1].materialization.metadata if events else {}
        return {name: value.value for name, value in metadata.items()}


def _cause(error: BaseException, job: str, partition: str | None) -> BaseException:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FrontierError):
            return cause
        cause = cause.__cause__
    if type(error).__name__ == "DagsterAssetCheckFailedError":  # not exported by dagster
        return StoreError(
            f"a blocking check failed ({str(error).strip().splitlines()[-1].strip()})",
            where=f"{job} {partition or ''}".strip(),
            next_step="Open the run in the UI (frontier ui): the check names the rows.",
        )
    return error
