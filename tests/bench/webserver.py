"""Dagster's own webserver over a home folder, asked as its UI asks it."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.definitions import CHECKOUT
from resources.server_answers import free_port

PATIENCE_S = 180


@contextmanager
def served_instance(home: Path) -> Iterator[Callable[[str, dict], dict]]:
    """A function that asks a GraphQL question and returns its data; the server is ended at the end."""
    port = free_port()
    environment = {**os.environ, "FRONTIER_HOME": str(home), "DAGSTER_HOME": str(home / "dagster")}
    command = [sys.executable, "-m", "dagster_webserver", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    with (home / "webserver.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=CHECKOUT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait(f"http://127.0.0.1:{port}/server_info", server)
        yield lambda query, variables: _asked(f"http://127.0.0.1:{port}/graphql", query, variables)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)


def _asked(url: str, query: str, variables: dict) -> dict:
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        said = json.load(answer)
    if said.get("errors"):
        raise RuntimeError(f"{url}: {said['errors']}")
    return said["data"]


def _wait(url: str, server: subprocess.Popen) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while server.poll() is None and time.monotonic() < deadline_s:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"{url}: no webserver came up within {PATIENCE_S} s")
