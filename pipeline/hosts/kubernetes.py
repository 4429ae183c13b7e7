"""A sweep as a Kubernetes Job: its manifest, and the commands that start, watch and end it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.hosts.order import SweepOrder
from pipeline.registry.hosts import KubernetesHost

GRACE_S = 120
"""From SIGTERM to SIGKILL: a server under test needs its time to leave the device."""

CONTAINER = "sweep"


def job_manifest(host: KubernetesHost, order: SweepOrder, pipes: Mapping[str, str], results_url: str) -> dict[str, Any]:
    """The Job: one pod, never started a second time by the cluster, for a rerun resumes from the object store."""
    labels = {"app.kubernetes.io/name": "serving-frontier", "app.kubernetes.io/component": CONTAINER}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": order.name, "namespace": host.namespace, "labels": labels},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "activeDeadlineSeconds": host.time_limit_s,
            "template": {"metadata": {"labels": labels}, "spec": _pod(host, order, pipes, results_url)},
        },
    }


def _pod(host: KubernetesHost, order: SweepOrder, pipes: Mapping[str, str], results_url: str) -> dict[str, Any]:
    variables = {**order.variables(pipes), "FRONTIER_RESULTS": results_url}
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": host.image,
        "command": ["frontier", *order.arguments],
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "resources": {"limits": dict(host.limits), "requests": dict(host.limits)},
        "volumeMounts": [{"name": "shared-memory", "mountPath": "/dev/shm"}],
    }
    if host.secret:
        container["envFrom"] = [{"secretRef": {"name": host.secret}}]
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "nodeSelector": dict(host.node_selector),
        "containers": [container],
        "volumes": [{"name": "shared-memory", "emptyDir": {"medium": "Memory"}}],
    }


def create_command(host: KubernetesHost) -> tuple[str, ...]:
    """Makes the Job of the manifest on its input."""
    return (*_kubectl(host), "create", "--filename=-")


def watch_command(host: KubernetesHost, order: SweepOrder) -> tuple[str, ...]:
    """Prints the Job as JSON, nothing where there is none."""
    return (*_kubectl(host), "get", "job", order.name, "--output=json", "--ignore-not-found")


def logs_command(host: KubernetesHost, order: SweepOrder) -> tuple[str, ...]:
    """Prints everything that the Job's pod has said so far."""
    return (*_kubectl(host), "logs", f"job/{order.name}", f"--container={CONTAINER}", "--tail=-1")


def cancel_command(host: KubernetesHost, order: SweepOrder) -> tuple[str, ...]:
    """Ends the Job and its pod, and waits until both are gone."""
    return (*_kubectl(host), "delete", "job", order.name, "--cascade=foreground", "--wait=true", "--ignore-not-found")


def _kubectl(host: KubernetesHost) -> tuple[str, ...]:
    return ("kubectl", f"--namespace={host.namespace}")


def ending(job: Mapping[str, Any]) -> str | None:
    """How a Job ended: Complete, or its failure's reason; None while it runs or waits."""
    for condition in job.get("status", {}).get("conditions", ()):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed"):
            return "Complete" if condition["type"] == "Complete" else str(condition.get("reason", "Failed"))
    return None
