"""A request of a sweep carries why, its priority, and the Celery queue of the GPU's host where it has one."""

import datetime as dt

import pytest

from pipeline.automation.sweep_requests import sweep_request
from pipeline.cell import GpuRun
from pipeline.registry.hosts import parse_hosts
from pipeline.registry.shipped import shipped_hosts

CELL = GpuRun("h100", dt.date(2026, 11, 1))
HOSTS = parse_hosts('[rack_a]\nname = "Rack A"\nkind = "celery"\nqueue = "rack_a_gpus"\n', "hosts.toml")


def test_a_gpu_of_a_host_without_a_queue_has_no_tag_of_one():
    tags = sweep_request(CELL, run_key="k", why="nightly", priority=3).tags
    assert (tags["frontier/why"], tags["dagster/priority"]) == ("nightly", "3")
    assert "dagster-celery/queue" not in tags


@pytest.mark.parametrize(("slug", "host"), [*HOSTS.items(), *shipped_hosts().items()])
def test_only_the_run_of_a_gpu_on_a_celery_host_goes_to_its_queue(slug, host, monkeypatch):
    monkeypatch.setattr("pipeline.automation.sweep_requests.host_of", lambda gpu: (slug, host))
    tags = sweep_request(CELL, run_key="k", why="nightly").tags
    assert tags.get("dagster-celery/queue") == {"rack_a": "rack_a_gpus"}.get(slug)
