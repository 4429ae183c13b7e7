"""What a server answers over HTTP: its version, its model, a first token, its counters, an empty cache.

Belongs here: the calls, and which path each engine has them under. Not here: processes (running_server.py), nor load.
"""

import http.client
import json
import socket
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import psutil

from pipeline.errors import EngineError
from pipeline.sweep.launch_line import ServerPlan
from pipeline.sweep.server_end import FAILURES

HOST = "127.0.0.1"
ANSWER_TIMEOUT_S = 10.0
FLUSH_TIMEOUT_S = 10.0
FLUSH = {"vllm": "/reset_prefix_cache", "sglang": "/flush_cache"}
"""POST resets the prefix cache; it is refused while a request is in flight."""


@dataclass(frozen=True)
class Address:
    """Where a server answers, and its key; None where it asks for none."""

    url: str
    api_key: str | None = field(repr=False)

    @property
    def port(self) -> int:
        """The port of the URL, or that of its scheme."""
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    def is_here(self) -> bool:
        """Whether it is an address of this host. What stands behind a tunnel is not seen."""
        own = {address.address for addresses in psutil.net_if_addrs().values() for address in addresses}
        try:
            found = socket.getaddrinfo(urlsplit(self.url).hostname, self.port, proto=socket.IPPROTO_TCP)
        except OSError:
            return False
        return any(str(entry[4][0]) in own for entry in found)

    def ask(
        self, path: str, body: dict[str, Any] | None = None, timeout_s: float | None = ANSWER_TIMEOUT_S
    ) -> tuple[int, str]:
        """GET, or POST of a body: status and text. No proxy is asked and no redirect followed: both would get the key.

        Raises OSError or HTTPException.
        """
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or HOST, parts.port, timeout=timeout_s)
        headers = {"Content-Type": "application/json"}
        if self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key}"
        try:
            content = None if body is None else json.dumps(body)
            connection.request("GET" if body is None else "POST", parts.path + path, content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", errors="replace")
        finally:
            connection.close()


def on_this_host(port: int, api_key: str) -> Address:
    """The address of a server that is reached from this host alone."""
    return Address(f"http://{HOST}:{port}", api_key)


def free_port() -> int:
    """A port that nobody listens on now; the kernel gives each out long before it comes round again."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def prove_identity(address: Address, plan: ServerPlan, version: str) -> None:
    """Raises EngineError where the server reports another version or model than was asked for.

    ``version`` is what the build reported of itself. SGLang answers requests for any model: it is asked which it has.
    """
    if plan.engine == "vllm":
        reported = _json(address, "/version").get("version")
        names = [model.get("id") for model in _json(address, "/v1/models").get("data", [])]
    else:
        said = _json(address, "/server_info")
        reported, names = said.get("version"), [said.get("served_model_name")]
    if reported != version:
        raise _stranger(plan, f"version {version}", f"version {reported}")
    if names != [plan.model_name]:
        raise _stranger(plan, f"model {plan.model_name}", f"model {names}")


def first_token(address: Address, plan: ServerPlan) -> None:
    """Let the server generate. Raises EngineError where it answers without a token; waits as long as it takes."""
    order = {"model": plan.model_name, "prompt": "Once upon a time", "max_tokens": 2, "temperature": 0}
    status, text = address.ask("/v1/completions", order, timeout_s=None)
    n_tok = _object(text).get("usage", {}).get("completion_tokens") if status == 200 else None
    if not n_tok:
        raise EngineError(
            "answers without a token",
            where=plan.build,
            found=f"HTTP {status} {text[:200]}",
            next_step="Read its log; the model or the launch line is not fit for generation.",
            kind="stranger",
        )


def counters(address: Address) -> str:
    """The text of /metrics; empty where the server does not answer."""
    try:
        return address.ask("/metrics")[1]
    except (OSError, http.client.HTTPException):
        return ""


def flush(address: Address, engine: str) -> bool:
    """Reset the prefix cache, trying again until the last request is gone.

    False where the engine has no such call, does not do it, or does not answer.
    """
    try:
        return engine in FLUSH and _flushed(address, FLUSH[engine])
    except (OSError, http.client.HTTPException):
        return False


def _flushed(address: Address, path: str) -> bool:
    until_s = time.monotonic() + FLUSH_TIMEOUT_S
    while True:
        status, text = address.ask(path, {})
        if status == 200 and _object(text).get("success", True):
            return True
        if status == 404 or time.monotonic() > until_s:
            return False
        time.sleep(0.2)


def _json(address: Address, path: str) -> dict[str, Any]:
    status, text = address.ask(path)
    if status == 503:
        raise ConnectionError("not ready")
    return _object(text)


def _object(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _stranger(plan: ServerPlan, expected: str, found: str) -> EngineError:
    return EngineError(
        FAILURES["stranger"],
        where=plan.build,
        expected=expected,
        found=found,
        next_step="Build it again, or correct the recipe.",
        kind="stranger",
    )
