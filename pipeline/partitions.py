"""Partitions: gpu × run_date, gpu alone, and engine builds. The parser of a partition key is cell.py's.

The GPU axis is the registry's; a GPU that is no longer swept is retired there, never deleted.
"""

import datetime as dt

import dagster as dg

from pipeline.registry.shipped import shipped_builds, shipped_registry
from pipeline.sweep.plan import SIMULATOR_BUILD

FIRST_RUN_DATE = dt.date(2024, 1, 1)
"""The oldest public result files are from 2024. Fixed: moving it would renumber every cell."""

GPU = "gpu"
RUN_DATE = "run_date"

build_partitions = dg.StaticPartitionsDefinition(list(shipped_builds()))
builds_of_sweeps = dg.SpecificPartitionsPartitionMapping([SIMULATOR_BUILD])
gpu_partitions = dg.StaticPartitionsDefinition(list(shipped_registry().gpus))
run_date_partitions = dg.DailyPartitionsDefinition(start_date=FIRST_RUN_DATE.isoformat(), end_offset=1)
cell_partitions = dg.MultiPartitionsDefinition({GPU: gpu_partitions, RUN_DATE: run_date_partitions})
cell_to_gpu = dg.MultiToSingleDimensionPartitionMapping(partition_dimension_name=GPU)
