"""What listens, listens on this host alone unless somebody asks for more."""

import os
import sys

import psutil
import pytest

from pipeline import launch
from pipeline.registry.builds import Build
from pipeline.registry.shipped import shipped_builds
from pipeline.sweep.launch_line import address_arguments
from pipeline.sweep.scripted import Script
from resources.engine_launch import Place, start_command
from resources.scripted_server import scripted_server
from resources.site_server import site_server


def test_the_ui_is_started_on_this_host(tmp_path, monkeypatch):
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    asked = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: asked.append((program, arguments)))
    launch.start_ui(3999)
    ((program, arguments),) = asked
    assert program == sys.executable
    assert arguments[arguments.index("-h") + 1 : arguments.index("-h") + 4] == ["127.0.0.1", "-p", "3999"]


def test_the_ui_starts_with_settings_that_lack_something_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FRONTIER_HOME", str(tmp_path))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dagster.yaml").write_text("concurrency: {}\nrun_monitoring: {}\nrun_launcher: {}\n")
    monkeypatch.setattr(os, "execv", lambda *_: None)
    launch.start_ui(3999)
    assert capsys.readouterr().err.startswith(f"{tmp_path}/dagster.yaml has no run_retries: a requested sweep whose")


def test_the_published_site_is_served_on_this_host(tmp_path):
    (tmp_path / "index.html").write_text("x")
    with site_server(tmp_path, 0) as server:
        assert server.server_address[0] == "127.0.0.1"


def test_the_scripted_server_listens_on_this_host():
    with scripted_server(Script()) as url:
        port = int(url.rsplit(":", 1)[1])
        listening = [
            s for s in psutil.net_connections("tcp") if s.status == psutil.CONN_LISTEN and s.laddr.port == port
        ]
        assert {s.laddr.ip for s in listening} == {"127.0.0.1"}


def environments() -> list[Build]:
    return [build for build in shipped_builds().values() if build.environment and build.role == "engine"]


@pytest.mark.parametrize("build", environments(), ids=lambda build: build.name)
def test_an_engine_is_started_on_this_host_with_a_key(build):
    class Built:
        python = "python"

    begun = start_command(build, Built(), ("-m", "x"), Place(8000), "")
    said = address_arguments(build.engine, begun.bind_host, 8000, "key")
    assert said[said.index("--host") + 1] == "127.0.0.1"
    assert said[said.index("--api-key") + 1] == "key"
