"""Many random pages in one query, for the laws: each page is a model with one curve an engine."""

from collections import defaultdict
from dataclasses import dataclass

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pipeline.frontier.across import combined_frontier, read_across
from tests.unit.frontier.point_rows import curve, derived, knot_pairs
from tests.unit.frontier.twins import Pair

ENGINES = ("vllm", "sglang", "trtllm")
TARGETS = tuple(range(10, 131, 10))

FEW_LARGE = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)

# Half of the points lie on a coarse grid: equal speeds, equal throughputs, equal points and targets on knots.
on_a_grid = st.tuples(st.integers(2, 24).map(lambda n: 5.0 * n), st.integers(1, 12).map(lambda n: 100.0 * n))
anywhere = st.tuples(st.floats(10, 120), st.floats(1, 1e6))
a_point = st.one_of(on_a_grid, anywhere)
a_curve = st.lists(a_point, min_size=1, max_size=9)
a_page = st.lists(a_curve, min_size=1, max_size=len(ENGINES))
pages = st.lists(a_page, min_size=1, max_size=12)


@dataclass(frozen=True)
class Page:
    """What the SQL says about one page: per engine its knots and slopes, and readings as {target: row}."""

    knots: dict[str, list[Pair]]
    slopes: dict[str, list[float | None]]
    at_least: dict[str, dict[float, dict]]
    at_target: dict[str, dict[float, dict]]
    f: dict[float, float | None]
    combined: list[Pair]

    @property
    def all_knots(self) -> list[Pair]:
        return [pair for pairs in self.knots.values() for pair in pairs]


def page_rows(some_pages: list[list[list[Pair]]]) -> list[dict[str, object]]:
    """The points of pages; page i is model i."""
    return [
        row
        for model, curves in enumerate(some_pages)
        for engine, pairs in zip(ENGINES, curves, strict=False)
        for row in curve(*pairs, run_id=engine, engine=engine, engine_family=engine, model=str(model))
    ]


def read_pages(connection, some_pages: list[list[list[Pair]]], targets=TARGETS) -> list[Page]:
    """Every page through the SQL, in one go."""
    curves = derived(connection, page_rows(some_pages), targets)
    readings = _grouped(curves.readings, "reading", "model", "engine")
    across = _grouped(read_across(connection, curves.knots, curves.readings), "reading", "model")
    combined = combined_frontier(connection, curves.knots)
    knots = _grouped(curves.knots, "model", "engine")
    found = []
    for model in map(str, range(len(some_pages))):
        engines = [engine for m, engine in knots if m == model]
        mine = {engine: knots[model, engine] for engine in engines}
        found.append(
            Page(
                knots={e: [(k["interactivity_tok_s_user"], k["throughput_tok_s_gpu"]) for k in mine[e]] for e in mine},
                slopes={e: [k["slope"] for k in mine[e]] for e in mine},
                at_least={e: _by_target(readings["at_least", model, e]) for e in mine},
                at_target={e: _by_target(readings["at_target", model, e]) for e in mine},
                f={r["target_tok_s_user"]: r["throughput_tok_s_gpu"] for r in across["at_least", model]},
                combined=sorted(knot_pairs(combined.filter([m == model for m in combined["model"].to_pylist()]))),
            )
        )
    return found


def _grouped(table, *names):
    groups = defaultdict(list)
    for row in table.to_pylist():
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def _by_target(rows):
    return {row["target_tok_s_user"]: row for row in rows}
