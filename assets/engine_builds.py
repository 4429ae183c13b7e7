"""engine_builds: engines, load generator and simulator, each in an environment of its own, locked and proven."""

import dagster as dg

from pipeline.partitions import build_partitions
from pipeline.registry.shipped import shipped_plan
from resources.clock import Clock
from resources.engine_builder import FINGERPRINT, EngineBuilder
from resources.progress import Progress


@dg.asset(
    partitions_def=build_partitions,
    group_name="builds",
    kinds={"python"},
    description="Every engine, load generator and simulator in an environment of its own, from a lock with hashes.",
)
def engine_builds(
    context: dg.AssetExecutionContext, engine_builder: EngineBuilder, clock: Clock, progress: Progress
) -> dg.MaterializeResult:
    """One materialization is one build of the registry: installed, or found as it was, and proven to run."""
    built = engine_builder.build(shipped_plan(context.partition_key), clock.now(), progress.say)
    fingerprint = built.fingerprint
    return dg.MaterializeResult(
        metadata={
            "reported_version": fingerprint.reported_version,
            "n_packages": len(fingerprint.packages),
            "size_mib": fingerprint.size_mib,
            "seconds_of_build": fingerprint.seconds,
            "reused": built.reused,
            "path": str(built.folder),
            "fingerprint_path": str(built.folder / FINGERPRINT),
            "fingerprint": dg.MetadataValue.json(fingerprint.summary()),
        },
        data_version=dg.DataVersion(fingerprint.build_hash),
    )
