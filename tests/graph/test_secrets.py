"""Secrets are words of the environment alone: a sweep and a publication leave them in no file and say them nowhere."""

import dataclasses
from pathlib import Path

import pyarrow.parquet as pq

from resources.dagster_runs import open_instance
from tests.graph.test_measured_sweep import CELL, far, measured, run_sweep
from tests.instances import lay_instance

__all__ = ["far", "measured"]

SECRETS = {
    "OPENAI_API_KEY": "sk-aaaa1111",
    "HF_TOKEN": "hf_bbbb2222",
    "FRONTIER_WEBHOOK": "https://hooks.example/cccc3333",
    "FRONTIER_SMTP_PASSWORD": "dddd4444",
}
SERVERS_KEY = "eeee5555"


def said_in(path: Path) -> str:
    """The words of a file; those of a table behind its compression too."""
    text = path.read_bytes().decode("latin-1")
    return f"{text}{pq.read_table(path, partitioning=None).to_pylist()}" if path.suffix == ".parquet" else text


def test_no_secret_of_the_environment_and_no_servers_key_is_in_any_file_or_said(measured, tmp_path, monkeypatch, capfd):
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("resources.engine_server.secrets.token_hex", lambda _: SERVERS_KEY)
    lay_instance(measured.home)
    with open_instance(measured.home) as instance:
        recorded = dataclasses.replace(measured, instance=instance)
        run_sweep(recorded)
        recorded.derive(CELL)
        recorded.publish("cpu")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"points.parquet", "index.html", "runs.db"} <= {path.name for path in files}
    words = [*SECRETS.values(), SERVERS_KEY]
    assert [(path, word) for path in files for word in words if word in said_in(path)] == []
    said = capfd.readouterr()
    assert not [word for word in words if word in said.out + said.err]


def test_a_server_under_test_is_started_on_this_host_alone_and_with_a_key(measured, monkeypatch):
    commands = []
    import resources.engine_server as module

    start = module.start
    monkeypatch.setattr(module, "start", lambda asked, held: commands.append(list(asked.command)) or start(asked, held))
    run_sweep(measured)
    (command,) = commands
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert len(command[command.index("--api-key") + 1]) == 32
