"""RUNS: one row per swept recipe: what was started, on what, and why its ladder ended where it did."""

from pipeline.tables.columns import Table, count, day, instant, number, text
from pipeline.tables.series import SERIES

RUNS = Table(
    name="runs",
    grain="one topology of one recipe, swept on one GPU on one run date",
    columns=(
        text("run_id", "the run; its points carry it", nullable=False),
        text("recipe", "slug of the recipe", nullable=False),
        text("topology", "canonical spelling, as in points", nullable=False),
        *SERIES,
        text("engine_build", "build slug, version and hash", nullable=False),
        day("run_date", "UTC day of the run", nullable=False),
        instant("started_at", "start of the first point; null for a simulated run"),
        text("device_name", "the device's own name; null for a simulated run"),
        text("driver", "driver version of the device, or the kernel of a CPU host; null for a simulated run"),
        text("launch_line", "how the server was started, without its key, or that it was not started here"),
        text("stopped_below", "code: why nothing at a lower concurrency was measured", nullable=False),
        text("stopped_above", "code: why nothing at a higher one was (codes: sweep/stop_rule.py)", nullable=False),
        count("n_points", "points of the run", nullable=False),
        number("measured_s", "s", "seconds inside measured windows; null for a simulated run"),
        number("wall_s", "s", "seconds from the server's start to its end, over all sittings"),
    ),
    order=("run_id", "topology"),
)
