import datetime as dt

import dagster as dg
import pytest

from resources.run_requests import asked_at

EVENING = dt.datetime(2026, 11, 1, 22, tzinfo=dt.UTC)
NIGHT = dt.datetime(2026, 11, 2, 3, tzinfo=dt.UTC)


@pytest.fixture
def instance(tmp_path):
    with dg.DagsterInstance.ephemeral(str(tmp_path)) as instance:
        yield instance


def added(instance, at, first=None, **tags):
    known = {"root_run_id": first, "parent_run_id": first} if first else {}
    run = dg.DagsterRun(job_name="run_sweep", tags=tags, **known)
    return instance.run_storage.add_historical_run(run, at)


def test_a_run_was_asked_for_when_it_came_into_the_queue(instance):
    assert asked_at(instance, added(instance, EVENING)) == EVENING


def test_a_run_that_the_daemon_repeats_was_asked_for_with_the_first_one(instance):
    first = added(instance, EVENING)
    again = added(instance, NIGHT, first.run_id, **{"dagster/retry_number": "1"})
    assert asked_at(instance, again) == EVENING


def test_a_run_that_a_person_repeats_is_asked_for_now(instance):
    first = added(instance, EVENING)
    assert asked_at(instance, added(instance, NIGHT, first.run_id)) == NIGHT


def test_where_the_first_run_was_deleted_the_repeated_one_stands_for_itself(instance):
    first = added(instance, EVENING)
    again = added(instance, NIGHT, first.run_id, **{"dagster/retry_number": "1"})
    instance.delete_run(first.run_id)
    assert asked_at(instance, again) == NIGHT


def test_of_a_run_that_the_instance_does_not_hold_nothing_is_known(instance):
    assert asked_at(instance, dg.DagsterRun(job_name="run_sweep")) is None
