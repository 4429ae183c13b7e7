"""The Dagster instance as the command line uses it: its folder, and runs of our jobs that stay in its history."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from pipeline.errors import FrontierError, InstanceError, StoppedError, StoreError
from resources.atomic_files import write_bytes
from resources.instance_settings import is_of_earlier_version, shipped_settings
from resources.lost_runs import own_process_tag

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def prepare_instance(home: Path) -> Path:
    """The instance folder of a home, or DAGSTER_HOME where that is set, with its dagster.yaml.

    FRONTIER_INSTANCE names the file that it is a copy of, at every call. Without it a home gets the shipped one where
    it has none, or one that an earlier version wrote; one that somebody edited stays, and so does a DAGSTER_HOME
    elsewhere. Raises InstanceError where the named file is not there.
    """
    named, given = os.environ.get("FRONTIER_INSTANCE"), os.environ.get("DAGSTER_HOME")
    folder = Path(given) if given else home / "dagster"
    settings = folder / "dagster.yaml"
    if named:
        wanted = _settings(Path(named))
        if not settings.exists() or settings.read_bytes() != wanted:
            write_bytes(settings, wanted)
    elif folder.resolve() == (home / "dagster").resolve() and not _is_edited(settings):
        write_bytes(settings, shipped_settings())
    return folder


def _is_edited(settings: Path) -> bool:
    return settings.exists() and not is_of_earlier_version(settings.read_bytes())


def _settings(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InstanceError(
            f"the settings of the instance cannot be read ({error.strerror or error})",
            where=str(file),
            next_step="Correct FRONTIER_INSTANCE.",
        ) from error


@contextmanager
def open_instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """The instance of a home folder; inside the block DAGSTER_HOME names its folder, as everywhere in Dagster.

    Raises InstanceError where it cannot be opened.
    """
    before = os.environ.get("DAGSTER_HOME")
    folder = prepare_instance(home)
    os.environ["DAGSTER_HOME"] = str(folder)
    try:
        with _opened(folder) as instance:
            yield instance
    finally:
        os.environ.pop("DAGSTER_HOME")
        if before is not None:
            os.environ["DAGSTER_HOME"] = before


def _opened(folder: Path) -> dg.DagsterInstance:
    try:
        return dg.DagsterInstance.from_config(str(folder))
    except Exception as error:  # of libraries that are installed for several hosts only
        explained = _why_not(error)
        if explained is None:
            raise
        what, next_step = explained
        raise InstanceError(what, where=str(folder / "dagster.yaml"), next_step=next_step) from error


def _why_not(error: Exception) -> tuple[str, str] | None:
    """What is wrong with an instance and what to do, None for anything that is not about its settings."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, ModuleNotFoundError):
        return f"needs a package that is not installed ({cause.name})", "Install the project with its extra `fleet`."
    unset = re.search(r'environment variable "(\w+)" which is not set', str(error))
    if unset:
        return f"needs the variable {unset[1]}, which is not set", "Set it as deploy/dagster_fleet.yaml says."
    if type(error).__name__ == "DagsterPostgresException":  # of the same package
        said = str(cause).splitlines()[0]
        return f"its database does not answer ({said})", "See that PostgreSQL runs, and correct FRONTIER_POSTGRES_URL."
    return None


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
                tags={"frontier/launched_by": "command line", **own_process_tag()},
                raise_on_error=True,
            )
        except dg.DagsterError as error:
            raise _cause(error, job, partition) from error
        except BaseException as error:
            # The interruption is not exported by dagster.
            if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "DagsterExecutionInterruptedError":
                raise StoppedError(
                    "stopped",
                    where=f"{job} {partition or ''}".strip(),
                    next_step="What was finished is stored; run the same command again to go on.",
                ) from error
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
