"""Which host a sweep belongs to, and how its lines are told from its messages."""

import json

import pytest

from pipeline.errors import SweepRefusedError
from pipeline.registry.hosts import parse_hosts
from resources.far_hosts import FarHosts, Spoken
from tests.unit.registry.test_hosts import CELERY, SSH

HOSTS = parse_hosts(CELERY + SSH + '[local]\nname = "Here"\nkind = "local"\n', "hosts.toml")


def on(slug: str, monkeypatch) -> None:
    monkeypatch.setattr("resources.far_hosts.host_of", lambda gpu: (slug, HOSTS[slug]))


@pytest.mark.parametrize(
    ("host", "this_host", "elsewhere"),
    [("local", "", None), ("local", "rack_b", None), ("rack_b", "", "rack_b"), ("rack_b", "rack_b", None)],
)
def test_a_sweep_is_sent_to_its_gpus_host_unless_this_is_it(host, this_host, elsewhere, monkeypatch):
    on(host, monkeypatch)
    assert FarHosts(this_host=this_host).elsewhere("h100") == elsewhere


def test_a_sweep_of_a_celery_host_runs_on_its_worker_and_is_refused_everywhere_else(monkeypatch):
    on("rack_a", monkeypatch)
    assert FarHosts(this_host="rack_a").elsewhere("h100") is None
    with pytest.raises(SweepRefusedError, match="Launch it with the tag dagster-celery/queue: rack_a"):
        FarHosts().elsewhere("h100")


class Heard:
    """In the place of Dagster's handler of messages."""

    def __init__(self) -> None:
        self.methods: list[str] = []

    def handle_message(self, message: dict) -> None:
        self.methods.append(message["method"])


def spoken(method: str, **params: object) -> str:
    return json.dumps({"__dagster_pipes_version": "0.1", "method": method, "params": params})


def test_messages_are_told_from_lines_and_only_known_ones_reach_dagster():
    reader, handler = Spoken(), Heard()
    lines = [
        spoken("opened"),
        "a line of an engine",
        '{"json": "of somebody else"}',
        spoken("log", message="m", level="INFO"),
        spoken("report_custom_message", payload={"finished": {}}),
        spoken("report_asset_materialization", asset_key="site"),
        spoken("closed"),
    ]
    with reader.read_messages(handler) as where:
        assert where == {"stdio": "stdout"}
        assert list(reader.messages(lines)) == [{"finished": {}}]
    assert handler.methods == ["opened", "log", "closed"]
