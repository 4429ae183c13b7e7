"""Partitions: gpu × run_date, gpu alone, and engine builds. The parser of a partition key is cell.py's.

The GPU axis is the registry's; a GPU that is no longer swept is retired there, never deleted.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Any, cast

import dagster as dg

from pipeline.registry.shipped import measured_recipes, shipped_builds, shipped_registry
from pipeline.sweep.measured_plan import LOAD_GENERATOR_BUILD
from pipeline.sweep.plan import SIMULATOR_BUILD

FIRST_RUN_DATE = dt.date(2024, 1, 1)
"""The oldest public result files are from 2024. Fixed: moving it would renumber every cell."""

GPU = "gpu"
RUN_DATE = "run_date"


class CellPartitions(dg.MultiPartitionsDefinition):
    """gpu × run_date. Remembers the keys of the range that was asked for last.

    Dagster makes the keys of a whole run anew with the metadata of each of its cells: for 1,000 dates a million keys.
    Keys of a range never change: a day only adds keys after it.
    """

    _last: tuple[tuple[str, str], list[dg.MultiPartitionKey]] | None = None

    def get_partition_keys_in_range(
        self, partition_key_range: dg.PartitionKeyRange, dynamic_partitions_store: Any = None
    ) -> Sequence[dg.MultiPartitionKey]:
        """The keys from start to end in both dimensions, by GPU and date. Raises where an end is no key."""
        ends = (str(partition_key_range.start), str(partition_key_range.end))
        last = self._last  # another thread may ask for another range meanwhile
        if last is None or last[0] != ends:
            keys = super().get_partition_keys_in_range(partition_key_range, dynamic_partitions_store)
            last = self._last = (ends, cast("list[dg.MultiPartitionKey]", keys))
        return list(last[1])


build_partitions = dg.StaticPartitionsDefinition(list(shipped_builds()))
builds_of_sweeps = dg.SpecificPartitionsPartitionMapping(
    sorted({SIMULATOR_BUILD, LOAD_GENERATOR_BUILD, *(recipe.build for recipe in measured_recipes().values())})
)
gpu_partitions = dg.StaticPartitionsDefinition(list(shipped_registry().gpus))
run_date_partitions = dg.DailyPartitionsDefinition(start_date=FIRST_RUN_DATE.isoformat(), end_offset=1)
cell_partitions = CellPartitions({GPU: gpu_partitions, RUN_DATE: run_date_partitions})
cell_to_gpu = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name=GPU)
