"""One module a stage: partition in, resource calls, one pure call, MaterializeResult out.

Beta features that the graph stands on, each measured: multi-dimensional partition mappings, backfill policies,
observable sources. Their warnings say nothing that the pinned version does not.
"""

import warnings

import dagster as dg

warnings.filterwarnings("ignore", category=dg.BetaWarning)
