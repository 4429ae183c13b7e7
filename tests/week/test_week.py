"""Seven nights of one installation: schedule, crash, new price, new release, regression, and the site at the end.

Nobody types a command but the two that a person must: the new price, and the adoption of the release in the registry.
"""

import datetime as dt
import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pyarrow.parquet as pq
import pytest
from dagster._core.events import JobFailureData, RunFailureReason
from dagster._core.execution.retries import auto_reexecution_should_retry_run

from assets.page_audit import Audited, findings
from pipeline.automation.sweep_requests import ACTIVE
from pipeline.definitions import CHECKOUT
from pipeline.tables.points import POINTS
from resources.change_log import ChangeLog
from resources.dagster_runs import open_instance
from resources.device_lock import Devices
from resources.price_book import PriceBook
from tests.graph.test_measured_sweep import FAKES, pretend_built
from tests.io.tiny_wheels import make_wheel
from tests.week.world import BUILD, N_POINTS, Places, Week, as_json, run_request, set_the_stage

pytestmark = pytest.mark.week

MONDAY = dt.date(2026, 10, 19)
DAYS = [MONDAY + dt.timedelta(days=n) for n in range(7)]
_, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = DAYS
STEADY = (0.99, 1.0, 1.01)
FASTER = (0.891, 0.9, 0.909)
SLOWER = (1.08, 1.09, 1.1)
SLOWER_AGAIN = (1.085, 1.09, 1.095)  # the very same numbers would be the same measurement twice


def test_a_week_of_nights_ends_with_the_right_site(week):
    for day in (MONDAY, TUESDAY):
        week.at(day, "00:15")
        week.night(*STEADY)
    a_night_that_is_killed(week, WEDNESDAY)
    week.at(THURSDAY, "00:15")
    week.night(*STEADY)
    a_new_price(week, THURSDAY)
    week.at(FRIDAY, "00:15")
    week.night(*STEADY)
    a_new_release(week, FRIDAY)
    week.at(SATURDAY, "00:15")
    week.night(*SLOWER)
    a_regression_is_confirmed(week, SATURDAY)
    week.at(SUNDAY, "00:15")
    week.night(*SLOWER)
    look_at(week)
    nothing_was_swept_that_nobody_asked_for(week)
    costs_are_those_of_their_dates(week)
    the_page_has_seven_dates_and_the_newest_numbers(week)
    what_changed_says_why(week)
    everything_is_at_rest(week)


@pytest.fixture
def week(tmp_path, monkeypatch) -> Iterator[Week]:
    places = Places(tmp_path)
    for folder in (places.home, places.far):
        folder.mkdir()
    shutil.copy(FAKES / "sweep_load_child.py", places.far)
    shutil.copy(CHECKOUT / "pipeline/registry/prices.csv", places.home)
    book_of(places).add(price(0.5, dt.date(2026, 10, 1)))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    set_the_stage(monkeypatch, places)
    pretend_built(places.bench.builder, "aiperf")
    with open_instance(places.home) as instance:
        week = Week(places, instance, monkeypatch)
        week.at(MONDAY, "00:00")
        config = {"ops": {"engine_builds": {"config": {}}}}
        build = {"job_name": "build_engine", "partition_key": BUILD, "run_config": config, "tags": {}}
        assert run_request(places, instance, week.moment, build)
        week.run_all(week.tick_of("prices_every_15_minutes"))
        week.settle()
        yield week
    assert not [p for p in psutil.process_iter(["cmdline"]) if str(tmp_path) in str(p.info["cmdline"])]


def book_of(places: Places) -> PriceBook:
    return PriceBook(file=str(places.home / "prices.csv"))


def price(usd_per_gpu_hour: float, valid_from: dt.date) -> dict[str, object]:
    row = {"gpu": "cpu", "tier": "retail", "usd_per_gpu_hour": usd_per_gpu_hour, "source": "a quote"}
    return row | {"valid_from": valid_from}


def a_night_that_is_killed(week: Week, day: dt.date) -> None:
    """SIGKILL at the second point: the daemon finds a run whose process is gone, and runs it again."""
    week.at(day, "00:15")
    week.pace(*STEADY)
    (request,) = week.tick_of("nightly_sweeps")
    does = week.places.far / "does"
    does.write_text(f"kill_run {week.places.home / 'devices' / 'cpu.holder.json'} 2")
    killed = subprocess.run(week.start_process(request), cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    does.unlink()
    assert len(finished(week, day)) == 1
    (run,) = week.instance.get_runs(dg.RunsFilter(statuses=ACTIVE))
    lost = JobFailureData(error=None, failure_reason=RunFailureReason.RUN_EXCEPTION)
    week.instance.report_run_failed(run, "the process of the run is gone", lost)
    run = week.instance.get_run_by_id(run.run_id)
    assert auto_reexecution_should_retry_run(week.instance, run, RunFailureReason.RUN_EXCEPTION)
    again = {"dagster/parent_run_id": run.run_id, "dagster/root_run_id": run.run_id, "dagster/retry_number": "1"}
    retried = as_json(request)
    assert run_request(week.places, week.instance, week.moment, retried | {"tags": retried["tags"] | again})
    week.settle()


def a_new_price(week: Week, day: dt.date) -> None:
    """A person adds it at noon; the schedule that looks at the book does the rest."""
    before = page_of(week)
    swept = asked(week.places)
    week.at(day, "12:00")
    book_of(week.places).add(price(0.6, day))
    week.run_all(week.tick_of("prices_every_15_minutes"))
    week.settle()
    assert asked(week.places) == swept
    after = page_of(week)
    assert after["headline"]["throughput_tok_s_gpu"] == before["headline"]["throughput_tok_s_gpu"]
    assert after["headline"]["cost_usd_mtok"] / before["headline"]["cost_usd_mtok"] == pytest.approx(0.6 / 0.5)


def a_new_release(week: Week, day: dt.date) -> None:
    """Release 2.0 is found, built and swept with; a person then makes it the registry's version."""
    week.at(day, "10:00")
    make_wheel(week.places.wheels, version="2.0")
    week.pace(*FASTER)
    look_at(week)
    look_at(week)
    look_at(week)
    set_the_stage(week.patch, week.places, version="2.0")


def a_regression_is_confirmed(week: Week, day: dt.date) -> None:
    """The night was slower: one more sweep says so too."""
    assert notices(week) == []
    week.at(day, "08:00")
    week.pace(*SLOWER_AGAIN)
    look_at(week)
    look_at(week)
    assert [notice.split(":")[0] for (notice,) in notices(week)] == ["Suspected regression", "Confirmed regression"]


def look_at(week: Week) -> None:
    """Every sensor that somebody switched on, what they ask for, and what follows."""
    for sensor in ("verdict_notices", "confirm_regressions", "new_releases"):
        week.run_all(week.look_of(sensor))
        week.settle()
    week.look_of("verdict_notices")


def nothing_was_swept_that_nobody_asked_for(week: Week) -> None:
    nightly = [(day.isoformat(), "cadence nightly") for day in DAYS]
    expected = [
        *nightly[:5],
        (FRIDAY.isoformat(), f"release vllm {FRIDAY}"),
        (FRIDAY.isoformat(), f"release {BUILD} 2.0"),
        nightly[5],
        (SATURDAY.isoformat(), f"confirms a suspected regression of cpu_vllm_fixed on {SATURDAY}"),
        nightly[6],
    ]
    assert week.asked == expected
    runs = week.instance.get_runs(dg.RunsFilter(job_name="run_sweep"))
    assert len(runs) == 9 + 1  # of Wednesday two: the one that was killed, and its retry
    assert all(run.tags["frontier/why"] for run in runs)
    # the point that was killed was asked for twice, every other one once
    assert len(asked(week.places)) == 9 * N_POINTS + 1
    assert {day: len(finished(week, day)) for day in DAYS} == {
        day: N_POINTS * (2 if day in (FRIDAY, SATURDAY) else 1) for day in DAYS
    }


def costs_are_those_of_their_dates(week: Week) -> None:
    files = (week.places.home / "store/costs/cpu").glob("*/costs.parquet")
    rows = {path.parent.name: pq.read_table(path, partitioning=None).to_pylist() for path in files}
    stored = {day: {(row["price_id"], row["usd_per_gpu_hour"]) for row in found} for day, found in rows.items()}
    old, new = ("cpu/retail/2026-10-01", 0.5), (f"cpu/retail/{THURSDAY}", 0.6)
    assert stored == {day.isoformat(): {old, new} if day < THURSDAY else {new} for day in DAYS}


def the_page_has_seven_dates_and_the_newest_numbers(week: Week) -> None:
    page = page_of(week)
    assert sorted({entry["run_date"] for entry in page["history"]}) == [day.isoformat() for day in DAYS]
    knots = [(knot["interactivity_tok_s_user"], knot["throughput_tok_s_gpu"]) for knot in page["frontier"]]
    assert sorted(knots) == [pytest.approx((speed(lanes), throughput(lanes))) for lanes in (4, 2, 1)]
    assert {row["engine_build"].split()[1] for row in page["points"]} == {"2.0"}
    (cost,) = (cost for cost in page["costs"] if cost["tier"] == "retail")
    assert cost["usd_per_gpu_hour"] == 0.6


def speed(lanes: int) -> float:
    """Mean over the repeats of a slow night, tok/s/user: 10 ms a token and lane."""
    return sum(100 / (lanes * factor) for factor in SLOWER) / len(SLOWER)


def throughput(lanes: int) -> float:
    """Mean over the repeats: 320 tokens a request, 100 ms to the first and 63 more."""
    return sum(lanes * 320 / (0.1 + 0.63 * lanes * factor) for factor in SLOWER) / len(SLOWER)


def what_changed_says_why(week: Week) -> None:
    """No entry for a night that measured the same again, and one reason for each day that has some."""
    log = ChangeLog(root_dir=str(week.places.home / "store")).read().to_pylist()
    found: dict[str, set[str]] = {}
    for row in log:
        found.setdefault(row["published_on"].isoformat(), set()).update(row["reasons"])
    assert found == {
        MONDAY.isoformat(): {"first"},
        THURSDAY.isoformat(): {"new_price"},
        FRIDAY.isoformat(): {"new_build"},
        SATURDAY.isoformat(): {"new_run"},
        SUNDAY.isoformat(): {"new_run"},
    }
    assert {row["noise"] for row in log if row["published_on"] == SUNDAY} == {"within"}
    text = (week.places.home / "site/changes/index.html").read_text()
    assert f"Another price row holds (cpu/retail/2026-10-01 → cpu/retail/{THURSDAY})." in text
    assert f"Confirmed regression against the run of {FRIDAY} (-17.4%)." in text
    feed = (week.places.home / "site/feed.xml").read_text()
    assert feed.count("<entry>") == len(log)


def everything_is_at_rest(week: Week) -> None:
    known = week.places.resources(week.moment)
    stores = (known["result_store"], known["sweep_store"], known["page_store"])
    audited = Audited(*stores, known["prices"], known["publisher"], known["warehouse"], SUNDAY)
    assert [str(finding) for finding in findings(audited)] == []
    assert week.instance.get_runs(dg.RunsFilter(statuses=ACTIVE)) == []
    devices = Devices(root_dir=str(week.places.home / "devices"))
    assert devices.state("cpu") == "free"
    with devices.hold("cpu", lambda line: None):
        pass


def notices(week: Week) -> list[list[str]]:
    file = week.places.root / "notices.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def page_of(week: Week) -> dict[str, Any]:
    return json.loads((week.places.home / "site/run/small_random_28m-on-cpu/data.json").read_text())


def asked(places: Places) -> list[str]:
    return (places.far / "asked.log").read_text().split()


def finished(week: Week, day: dt.date) -> list[Path]:
    folder = week.places.home / "store/sweeps/cpu" / day.isoformat()
    return sorted(folder.glob(f"*.{POINTS.name}.parquet"))
