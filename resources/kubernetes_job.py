"""A sweep as a Kubernetes Job: its pod's log is read, and its files come from the object store."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pipeline.cell import GpuRun
from pipeline.errors import HostError, SweepRefusedError
from pipeline.hosts import kubernetes
from pipeline.hosts.order import SweepOrder
from pipeline.registry.hosts import KubernetesHost
from resources.job_log import answer, growing, patient_answer
from resources.sweep_mirror import SweepMirror


@dataclass(frozen=True)
class KubernetesJobs:
    """Jobs in one namespace. ``results_url`` is the object store; ``poll_s`` is between two looks at a Job."""

    slug: str
    host: KubernetesHost
    results_url: str
    poll_s: float

    @contextmanager
    def running(self, order: SweepOrder, pipes: Mapping[str, str]) -> Iterator[Iterator[str]]:
        """The lines of the order's Job, which is followed where it runs already. Leaving early deletes it."""
        self._refuse_without_store(order)
        there = self._job(order)
        if there and kubernetes.ending(there) is not None:
            self._delete(order)
        if not there or kubernetes.ending(there) is not None:
            manifest = kubernetes.job_manifest(self.host, order, pipes, self.results_url)
            answer(self.slug, kubernetes.create_command(self.host), json.dumps(manifest))
        try:
            yield self._lines(order)
        except BaseException:
            self._delete(order)
            raise

    def read(self, cell: GpuRun, files: Sequence[str]) -> dict[str, bytes]:
        """Some finished files of a cell, from the object store. Raises StoreError."""
        return SweepMirror(self.results_url).read(cell, files)

    def _refuse_without_store(self, order: SweepOrder) -> None:
        if not self.results_url:
            raise SweepRefusedError(
                "its pods have no disk that outlives them, and no object store is named",
                where=f"sweep {order.cell.key} on {self.slug}",
                expected="FRONTIER_RESULTS=s3://bucket/prefix",
                next_step="Name one, here and in the pods' credentials.",
            )

    def _job(self, order: SweepOrder) -> Mapping[str, Any]:
        """The Job as it is known; empty where there is none."""
        said = patient_answer(self.slug, kubernetes.watch_command(self.host, order), self.poll_s)
        return dict(json.loads(said)) if said.strip() else {}

    def _delete(self, order: SweepOrder) -> None:
        answer(self.slug, kubernetes.cancel_command(self.host, order))

    def _lines(self, order: SweepOrder) -> Iterator[str]:
        ended: list[str] = []

        def ending() -> str | None:
            job = self._job(order)
            how = kubernetes.ending(job) if job else "deleted by somebody"
            ended.extend([how] if how else [])
            return how

        yield from growing(lambda: self._said(order), ending, self.poll_s)
        if ended != ["Complete"]:
            raise HostError(
                "its sweep's Job did not end well",
                where=f"{self.slug} {order.name}",
                expected="Complete",
                found=ended[0],
                next_step="Read its pod's log, then run the same sweep again; what is finished is in the object store.",
            )

    def _said(self, order: SweepOrder) -> str:
        """Everything that the pod said; nothing while it waits for a node."""
        try:
            return answer(self.slug, kubernetes.logs_command(self.host, order))
        except HostError:
            return ""
