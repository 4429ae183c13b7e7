"""The domain of Serving Frontier: no Dagster, no I/O, no clock (see definitions.py for the wiring)."""
