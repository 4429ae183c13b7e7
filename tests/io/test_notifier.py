"""Notices against a local HTTP server and a local SMTP server; what is secret is in no error."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pipeline.errors import NoticeError
from resources.notifier import Notifier

SECRET = "s3cr3t-token"


class Hook(BaseHTTPRequestHandler):
    """Takes posts; answers what the server's ``answers`` says."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.answers)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as a client without TLS needs."""

    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].upper()
            self.server.said.append(line)
            if word == "DATA":
                self._say("354 go on")
                lines = iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")
                self.server.taken.append("\n".join(lines))
                self._say(self.server.answers)
            elif word == "QUIT":
                self._say("221 bye")
                return
            elif word == "EHLO":
                self._say("250-here", "250 AUTH PLAIN")
            else:
                self._say("235 in" if word == "AUTH" else "250 fine")

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


@contextlib.contextmanager
def serving(server: socketserver.BaseServer, answers: object) -> Iterator[socketserver.BaseServer]:
    server.taken, server.said, server.answers = [], [], answers
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("WEBHOOK_URL", "SMTP_HOST", "SMTP_PORT", "SMTP_FROM", "SMTP_TO", "SMTP_USER", "SMTP_PASSWORD"):
        monkeypatch.delenv(f"FRONTIER_{name}", raising=False)


@pytest.fixture
def hook(monkeypatch):
    with serving(HTTPServer(("127.0.0.1", 0), Hook), 200) as server:
        monkeypatch.setenv("FRONTIER_WEBHOOK_URL", f"http://127.0.0.1:{server.server_port}/{SECRET}")
        yield server


@pytest.fixture
def mailbox(monkeypatch):
    with serving(socketserver.TCPServer(("127.0.0.1", 0), Mailbox), "250 taken") as server:
        values = {"HOST": "127.0.0.1", "PORT": str(server.server_address[1]), "TLS": "none"}
        values |= {"FROM": "frontier@example.org", "TO": "team@example.org", "USER": "frontier", "PASSWORD": SECRET}
        for name, value in values.items():
            monkeypatch.setenv(f"FRONTIER_SMTP_{name}", value)
        yield server


def test_without_a_variable_there_is_no_channel():
    assert Notifier().channels() == ()


def test_a_webhook_gets_text_for_people_and_facts_for_programs(hook):
    assert Notifier().channels() == ("webhook",)
    Notifier().send("webhook", "two verdicts", ["one.", "two."], [{"gpu": "h100"}])
    ((path, kind, body),) = hook.taken
    assert (path, kind) == (f"/{SECRET}", "application/json")
    assert body == {
        "text": "two verdicts\none.\ntwo.",
        "subject": "two verdicts",
        "lines": ["one.", "two."],
        "facts": [{"gpu": "h100"}],
    }


def test_a_mail_has_subject_and_lines_and_the_login_is_used(mailbox):
    assert Notifier().channels() == ("mail",)
    Notifier().send("mail", "two verdicts", ["one.", "two."])
    (message,) = mailbox.taken
    assert "Subject: two verdicts" in message
    assert "To: team@example.org" in message
    assert message.endswith("one.\n\ntwo.")
    assert any(line.startswith("AUTH PLAIN") for line in mailbox.said)


@pytest.mark.parametrize("answer", [500, 302])
def test_an_answer_other_than_yes_is_an_error_without_the_address(hook, answer):
    hook.answers = answer
    with pytest.raises(NoticeError, match=f"FRONTIER_WEBHOOK_URL: its server answered {answer}") as caught:
        Notifier().send("webhook", "s", [])
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert len(hook.taken) == 1


@pytest.mark.parametrize("url", [f"http://127.0.0.1:9/{SECRET}", f"ftp://{SECRET}", f"http://{SECRET} x/"])
def test_an_address_that_does_not_answer_is_not_told(monkeypatch, url):
    monkeypatch.setenv("FRONTIER_WEBHOOK_URL", url)
    with pytest.raises(NoticeError) as caught:
        Notifier(timeout_s=1).send("webhook", "s", [])
    assert SECRET not in str(caught.value)


def test_a_mail_server_that_refuses_is_told_by_its_code(mailbox):
    mailbox.answers = f"554 no {SECRET}"
    with pytest.raises(NoticeError, match="the mail server answered 554") as caught:
        Notifier().send("mail", "s", ["line"])
    assert SECRET not in str(caught.value)


def test_a_password_is_not_sent_in_clear_text_to_another_host(mailbox, monkeypatch):
    monkeypatch.setenv("FRONTIER_SMTP_HOST", "mail.example.org")
    with pytest.raises(NoticeError, match="not sent in clear text"):
        Notifier(timeout_s=1).send("mail", "s", [])
    assert mailbox.said == []


def test_the_configuration_holds_no_secret(hook, mailbox):
    assert SECRET not in repr(Notifier()) + str(Notifier().model_dump())
