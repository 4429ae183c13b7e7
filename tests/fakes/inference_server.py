"""Answers as an inference server does, from a table of paths: whatever a test puts in, over a real socket."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODELS = {"object": "list", "data": [{"id": "small", "max_model_len": 4096}]}
ONE_TOKEN = {"model": "small", "usage": {"prompt_tokens": 5, "completion_tokens": 1}}


@dataclass
class FakeServer:
    """``answers`` by path: a body, or (status, body). ``asked``: (path, body, key) of every request."""

    answers: dict[str, object]
    api_key: str = ""
    port: int = 0
    asked: list[tuple[str, object, str]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, path: str, body: object, key: str) -> tuple[int, object]:
        self.asked.append((path, body, key))
        if self.api_key and key != f"Bearer {self.api_key}":
            return 401, {"error": "no"}
        found = self.answers.get(path, (404, {"detail": "Not Found"}))
        return found if isinstance(found, tuple) else (200, found)


def vllm_server() -> FakeServer:
    return FakeServer(
        {"/version": {"version": "0.33.0"}, "/v1/models": MODELS, "/v1/chat/completions": ONE_TOKEN, "/health": ""}
    )


def sglang_server() -> FakeServer:
    """Its own words hold every argument that it was started with, its key among them."""
    said = {"version": "0.5.23", "tp_size": 8, "model_path": "/models/small", "api_key": "s3cret", "hf_token": "t0ken"}
    answers = {"/get_server_info": said, "/v1/models": MODELS, "/v1/chat/completions": ONE_TOKEN}
    return FakeServer(answers, api_key="s3cret")


@contextmanager
def serving(fake: FakeServer) -> Iterator[FakeServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(None)

        def do_POST(self) -> None:
            self._respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _respond(self, asked: object) -> None:
            status, body = fake.answer(self.path, asked, self.headers.get("Authorization", ""))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", str(body))
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """A test's output stays its own."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
