"""Stands for an engine's server: the same arguments, the same answers, and every way in which one can fail.

What it does is said by --fake: nothing (a good server), slow, refuse, dies, silent, stubborn (ignores SIGTERM),
orphan (leaves a grandchild in a session of its own), mute (answers without a token), other (another model),
kv (no memory for the cache), taken (finds its port taken), segment (leaves shared memory behind).
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata

FOREVER = "import time; time.sleep(600)"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("weights")
    parser.add_argument("--served-model-name")
    parser.add_argument("--fake", default="")
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--api-key")
    return parser.parse_known_args()[0]


def version() -> str:
    """That of the package tiny in this environment; 1.0 where it is not there."""
    try:
        return metadata.version("tiny")
    except metadata.PackageNotFoundError:
        return "1.0"


class Answers(BaseHTTPRequestHandler):
    asked = argparse.Namespace()

    def do_GET(self) -> None:
        name = "another" if self.asked.fake == "other" else self.asked.served_model_name
        paths = {"/version": {"version": version()}, "/v1/models": {"data": [{"id": name}]}}
        if self.path == "/metrics":
            self.reply(200, "requests_total 7\n")
        else:
            self.reply(200, json.dumps(paths[self.path]))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/reset_prefix_cache":
            self.reply(404 if self.asked.fake == "no_flush" else 200, '{"success": true}')
        elif self.headers["Authorization"] != f"Bearer {self.asked.api_key}":
            self.reply(401, "{}")
        else:
            self.reply(200, json.dumps({"usage": {"completion_tokens": 0 if self.asked.fake == "mute" else 2}}))

    def reply(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Quiet."""


def fail(words: str, code: int) -> None:
    print("Loading weights", words, sep="\n", flush=True)
    sys.exit(code)


FATAL = {
    "refuse": ("serve: error: unrecognized arguments: --max-num-seq 3", 2),
    "dies": ("RuntimeError: no such kernel", 1),
    "kv": ("ValueError: To serve one request, KV cache is needed, larger than the available KV cache memory", 1),
    "taken": ("OSError: [Errno 98] Address already in use", 1),
}


def misbehave(fake: str) -> None:
    if fake in FATAL:
        fail(*FATAL[fake])
    elif fake == "slow":
        for second in range(4):
            print(f"loading {second}", flush=True)
            time.sleep(0.5)
    elif fake == "silent":
        print("about to hang", flush=True)
        time.sleep(600)
    elif fake == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif fake == "orphan":
        subprocess.Popen([sys.executable, "-c", FOREVER], start_new_session=True)


def main() -> None:
    asked = arguments()
    misbehave(asked.fake)
    Answers.asked = asked
    with contextlib.ExitStack() as held:
        # Open for as long as it lives, as an engine's is: who cleans up after another leaves it alone.
        if asked.fake == "segment":
            held.enter_context(open(f"/dev/shm/psm_fake_{os.getpid()}", "wb")).write(b"left behind")  # noqa: PTH123
        ThreadingHTTPServer((asked.host, asked.port), Answers).serve_forever()


if __name__ == "__main__":
    main()
