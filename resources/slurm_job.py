"""A sweep as a job of a Slurm cluster whose file system this host shares: its log is read, its files are copied."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.cell import GpuRun
from pipeline.errors import HostError
from pipeline.hosts import slurm
from pipeline.hosts.order import SweepOrder
from pipeline.hosts.ssh import cell_folder
from pipeline.registry.hosts import SlurmHost
from resources.atomic_files import write_bytes
from resources.job_log import answer, growing, patient_answer

FORGOTTEN = "Invalid job id"
"""What squeue says of a job that ended some minutes ago."""

N_GOODBYE_LOOKS = 12


@dataclass(frozen=True)
class SlurmJobs:
    """Jobs in one partition. ``poll_s`` is between two looks at a job."""

    slug: str
    host: SlurmHost
    results_url: str
    poll_s: float

    @contextmanager
    def running(self, order: SweepOrder, pipes: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """The lines of the order's job, which is followed where it runs already. Leaving early cancels it."""
        job = self._found(order) or self._submitted(order, pipes)
        try:
            yield self._lines(order, job)
        except BaseException:
            self._cancel(job)
            raise

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """Some finished files of a cell, from the shared file system. Raises HostError."""
        folder = Path(cell_folder(self.host.home, cell))
        try:
            return {file: (folder / file).read_bytes() for file in files}
        except OSError as error:
            raise HostError(
                f"a finished file cannot be read ({error.strerror})",
                where=f"{self.slug} {folder}",
                next_step="Mount the cluster's file system here under the same path, then run the same sweep again.",
            ) from error

    def _found(self, order: SweepOrder) -> str:
        return answer(self.slug, slurm.find_command(order)).strip().partition("\n")[0]

    def _submitted(self, order: SweepOrder, pipes: Mapping[str, str]) -> str:
        script = slurm.batch_script(self.host, order, pipes, self.results_url)
        write_bytes(Path(slurm.script_file(self.host, order)), script.encode())
        return answer(self.slug, slurm.submit_command(self.host, order)).strip().partition(";")[0]

    def _lines(self, order: SweepOrder, job: str) -> Iterator[str]:
        log = Path(slurm.log_file(self.host, order))

        def text() -> str:
            return log.read_text(errors="replace") if log.is_file() else ""

        yield from growing(text, lambda: None if self._waits_or_runs(job) else "ended", self.poll_s)
        state, _, code = patient_answer(self.slug, slurm.outcome_command(job), self.poll_s).strip().partition("|")
        if state != slurm.ENDED_WELL:
            raise HostError(
                "its sweep's job did not end well",
                where=f"{self.slug} job {job}",
                expected=slurm.ENDED_WELL,
                found=f"{state or 'nothing known'} {code}".strip(),
                next_step=f"Read {log}, then run the same sweep again; what is finished over there is kept.",
            )

    def _waits_or_runs(self, job: str) -> bool:
        try:
            return bool(patient_answer(self.slug, slurm.watch_command(job), self.poll_s).strip())
        except HostError as error:
            if FORGOTTEN in error.found:
                return False
            raise

    def _cancel(self, job: str) -> None:
        """End the job and wait a while until it is gone: its device is free then."""
        answer(self.slug, slurm.cancel_command(job))
        for _ in range(N_GOODBYE_LOOKS):
            if not self._waits_or_runs(job):
                return
            time.sleep(self.poll_s)
