"""Telling people outside: a JSON POST to one address, a mail over SMTP. What is said is the sensors'.

The address and the password are read from the environment at the moment of sending and appear nowhere else: not in the
resource's configuration, which the UI shows, and not in an error, a log or a cursor.
"""

import json
import os
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.message import EmailMessage
from http.client import HTTPException

import dagster as dg
from pydantic import Field

from pipeline.errors import NoticeError

WEBHOOK = "FRONTIER_WEBHOOK_URL"
SMTP = "FRONTIER_SMTP_"
NEEDED_FOR_MAIL = ("HOST", "FROM", "TO")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PORTS = {"starttls": 587, "ssl": 465, "none": 25}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: the notice was meant for one address."""

    def redirect_request(self, *args: object) -> None:
        """Follow none."""


class Notifier(dg.ConfigurableResource):
    """Sends a notice over every channel that the environment sets up; without one nothing is sent."""

    timeout_s: float = Field(default=20.0, gt=0, le=300)

    def channels(self) -> tuple[str, ...]:
        """``webhook`` and ``mail``, as far as the environment sets them up."""
        mail = all(os.environ.get(SMTP + name) for name in NEEDED_FOR_MAIL)
        return ("webhook",) * bool(os.environ.get(WEBHOOK)) + ("mail",) * mail

    def send(
        self, channel: str, subject: str, lines: Sequence[str], facts: Sequence[Mapping[str, object]] = ()
    ) -> None:
        """One notice over one channel. ``facts`` go with a webhook as they are. Raises NoticeError."""
        if channel == "webhook":
            self._post(subject, lines, facts)
        else:
            self._mail(subject, lines)

    def _post(self, subject: str, lines: Sequence[str], facts: Sequence[Mapping[str, object]]) -> None:
        url = os.environ[WEBHOOK]
        if not url.lower().startswith(("https://", "http://")):
            raise _error(WEBHOOK, "is no http(s) address")
        body = {"text": "\n".join([subject, *lines]), "subject": subject, "lines": list(lines), "facts": list(facts)}
        content = json.dumps(body, default=str).encode()
        try:
            request = urllib.request.Request(url, content, {"Content-Type": "application/json"}, method="POST")
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=self.timeout_s):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise _error(WEBHOOK, f"its server answered {error.code}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise _error(WEBHOOK, f"cannot be reached ({_kind(error)})") from None

    def _mail(self, subject: str, lines: Sequence[str]) -> None:
        message = EmailMessage()
        message["Subject"], message["From"], message["To"] = subject, _setting("FROM"), _setting("TO")
        message.set_content("\n\n".join(lines or [subject]))
        try:
            with self._server() as server:
                server.send_message(message)
        except smtplib.SMTPResponseException as error:
            raise _error(f"{SMTP}*", f"the mail server answered {error.smtp_code}") from None
        except (OSError, smtplib.SMTPException, ValueError) as error:
            raise _error(f"{SMTP}*", f"the mail was not taken ({_kind(error)})") from None

    @contextmanager
    def _server(self) -> Iterator[smtplib.SMTP]:
        """A connection, logged in where there is a user. Raises NoticeError for a password in clear text."""
        host, safety = _setting("HOST"), _setting("TLS") or "starttls"
        if safety not in PORTS:
            raise _error(f"{SMTP}TLS", f"is none of {', '.join(PORTS)}")
        port = int(_setting("PORT") or PORTS[safety])
        user = _setting("USER")
        if user and safety == "none" and host not in LOOPBACK:
            raise _error(f"{SMTP}TLS", "a password is not sent in clear text to another host")
        context = ssl.create_default_context()
        if safety == "ssl":
            opened: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=self.timeout_s, context=context)
        else:
            opened = smtplib.SMTP(host, port, timeout=self.timeout_s)
        with opened as server:
            if safety == "starttls":
                server.starttls(context=context)
            if user:
                server.login(user, _setting("PASSWORD"))
            yield server


def _setting(name: str) -> str:
    return os.environ.get(SMTP + name, "")


def _kind(error: BaseException) -> str:
    """The kind of an error alone: its text may hold the address."""
    reason = getattr(error, "reason", None)
    return type(reason).__name__ if isinstance(reason, BaseException) else type(error).__name__


def _error(where: str, what: str) -> NoticeError:
    return NoticeError(what, where=where, next_step="The notice is sent at the next look; correct the variable.")
