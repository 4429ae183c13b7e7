"""An OpenAI-compatible streaming server with known timing: the truth that a load generator is held against.

Belongs here: the ASGI application that plays a script, and the child process that serves it on a fresh local port.
Not here: what is answered and when (pipeline/sweep/scripted.py).

    python -m resources.scripted_server '{"ttft_s": 0.2, "tpot_s": 0.02}'      prints its address, serves until ended
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn

from pipeline.errors import LoadError
from pipeline.sweep.scripted import HTTP_STATUS, Asked, Script, answer, asked_of, script_from, script_text

CHECKOUT = Path(__file__).resolve().parents[1]
MODEL = "scripted"
JSON_TYPE = [(b"content-type", b"application/json")]
STREAM_TYPE = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


@contextmanager
def scripted_server(script: Script) -> Iterator[str]:
    """A server in a process of its own; gives its address, and ends it with the block. Raises LoadError."""
    process = subprocess.Popen(
        [sys.executable, "-m", "resources.scripted_server", script_text(script)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise LoadError(
                f"ended with {process.wait()} before it served",
                where="scripted server",
                next_step="Its last words are above; correct the script.",
                kind="client_ended",
            )
        yield address
    finally:
        process.kill()  # it holds nothing that is worth a goodbye
        process.communicate()


@dataclass
class Counters:
    """What the server did, in the names that vLLM gives them."""

    n_requests: int = 0
    prompt_tok: int = 0
    generation_tok: int = 0
    cached_tok: int = 0
    n_finished: int = 0
    running: set[int] = field(default_factory=set)

    def text(self) -> str:
        """Prometheus text."""
        lines = {
            "vllm:prompt_tokens_total": self.prompt_tok,
            "vllm:generation_tokens_total": self.generation_tok,
            "vllm:prefix_cache_queries_total": self.prompt_tok,
            "vllm:prefix_cache_hits_total": self.cached_tok,
            "vllm:num_preemptions_total": 0,
            "vllm:num_requests_running": len(self.running),
            "vllm:num_requests_waiting": 0,
        }
        return "".join(f'{name}{{model_name="{MODEL}",engine="0"}} {value}\n' for name, value in lines.items())


class ScriptedApplication:
    """The ASGI application: chat completions as scripted, the model list, health, and /metrics."""

    def __init__(self, script: Script):
        self._script = script
        self._counters = Counters()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request."""
        path = scope["path"]
        if path == "/v1/chat/completions":
            await self._complete(json.loads(await _body(receive)), send)
        elif path == "/metrics":
            await _reply(send, 200, self._counters.text().encode())
        elif path == "/v1/models":
            await _reply(send, 200, json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode())
        else:
            known = path in ("/health", "/reset_prefix_cache", "/flush_cache")
            await _reply(send, 200 if known else 404, b"{}")

    async def _complete(self, body: Any, send: Any) -> None:
        now_s = asyncio.get_running_loop().time()
        asked = asked_of(body, self._counters.n_requests, self._script)
        self._counters.n_requests += 1
        fault = self._script.fault_of(asked.ordinal)
        if fault is not None and fault.kind in HTTP_STATUS:
            error = {"error": {"message": "scripted refusal", "type": fault.kind, "code": HTTP_STATUS[fault.kind]}}
            await _reply(send, HTTP_STATUS[fault.kind], json.dumps(error).encode())
            return
        self._counters.prompt_tok += asked.input_tok
        self._counters.cached_tok += min(self._script.cached_tok, asked.input_tok)
        self._counters.running.add(asked.ordinal)
        try:
            await self._stream(asked, now_s, send)
        finally:
            self._counters.running.discard(asked.ordinal)

    async def _stream(self, asked: Asked, start_s: float, send: Any) -> None:
        """Each event at its own deadline: lateness of one does not add to the next."""
        loop = asyncio.get_running_loop()
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_TYPE})
        for event in answer(self._script, asked):
            wait_s = start_s + event.at_s - loop.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            if event.payload is None:
                raise ConnectionAbortedError("scripted cut")
            self._counters.generation_tok += event.n_tok
            await send({"type": "http.response.body", "body": event.payload, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _reply(send: Any, status: int, content: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": JSON_TYPE})
    await send({"type": "http.response.body", "body": content})


def _serve(text: str) -> None:
    """Serve until the parent closes the standard input, which it does by ending too."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    config = uvicorn.Config(
        ScriptedApplication(script_from(text)), log_level="critical", lifespan="off", loop="asyncio"
    )
    server = uvicorn.Server(config)

    def ended() -> None:
        if not os.read(0, 1):
            server.should_exit = server.force_exit = True

    async def run() -> None:
        asyncio.get_running_loop().add_reader(0, ended)
        await server.serve(sockets=[listener])

    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn_loop = config.get_loop_factory()
    with asyncio.Runner(loop_factory=uvicorn_loop) as runner:
        runner.run(run())


if __name__ == "__main__":
    _serve(sys.argv[1])
