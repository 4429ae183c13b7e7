"""engine_builds: engines, load generator and simulator: locked environments, images by digest, running servers."""

from typing import Any

import dagster as dg
from pydantic import Field

from pipeline.partitions import build_partitions
from pipeline.registry.shipped import shipped_plan
from resources.built import Built
from resources.clock import Clock
from resources.engine_builder import FINGERPRINT, EngineBuilder
from resources.progress import Progress
from resources.release_index import ReleaseIndex


class BuildRequest(dg.Config):
    """Which version: the registry's own, or a newer release, whose lock is then resolved and kept."""

    version: str = Field(default="", description="a release to build instead of the registry's version")


@dg.asset(
    partitions_def=build_partitions,
    group_name="builds",
    kinds={"python"},
    description="Every engine and tool: an environment from a lock, an image by digest, or a running server.",
)
def engine_builds(
    context: dg.AssetExecutionContext,
    config: BuildRequest,
    engine_builder: EngineBuilder,
    release_index: ReleaseIndex,
    clock: Clock,
    progress: Progress,
) -> dg.MaterializeResult:
    """One materialization is one build of the registry: made or found as it was, and proven to run."""
    plan = release_index.plan(shipped_plan(context.partition_key), config.version)
    built = engine_builder.build(plan, clock.now(), progress.say)
    return dg.MaterializeResult(
        metadata=_metadata(built),
        data_version=dg.DataVersion(built.fingerprint.build_hash),
    )


def _metadata(built: Built) -> dict[str, Any]:
    fingerprint = built.fingerprint
    return {
        "kind": fingerprint.kind,
        "source": fingerprint.source,
        "version": fingerprint.version,
        "reported_version": fingerprint.reported_version,
        "n_packages": fingerprint.n_packages,
        "size_mib": fingerprint.size_mib,
        "seconds_of_build": fingerprint.seconds,
        "reused": built.reused,
        "path": str(built.folder),
        "fingerprint_path": str(built.folder / FINGERPRINT),
        "fingerprint": dg.MetadataValue.json(fingerprint.summary()),
    }
