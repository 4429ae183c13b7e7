"""A server that already runs and is a build: asked what it is, and for one token. Never started or stopped from here.

Belongs here: its address, its key, and what it says. Not here: servers of ours (engine_server.py), and measuring one
(borrowed_server.py).
"""

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.builds.fingerprint import ServerFacts
from pipeline.errors import BuildError
from pipeline.registry.builds import Server
from resources.server_answers import Address

SAYS_WHAT_IT_IS = ("/version", "/get_server_info", "/server_info")
"""vLLM, SGLang, and SGLang under the newer name."""

KEPT = frozenset({
    "version", "model_path", "served_model_name", "dtype", "quantization", "kv_cache_dtype", "context_length",
    "tp_size", "pp_size", "ep_size", "dp_size", "attention_backend", "mem_fraction_static", "max_running_requests",
    "speculative_algorithm", "disaggregation_mode",
})  # fmt: skip
"""All that is taken from an answer: SGLang's holds every argument of the server, its API key among them."""

MOST_BYTES = 4 * 2**20
PROOF = "Say one word."
NO_CHAT = (400, 404, 405)
"""How a server refuses a chat with a model that has no chat template."""


class _NoAnswerError(Exception):
    """The server answered, and it is no answer to the question; ``status`` is that of HTTP."""

    def __init__(self, what: str, status: int):
        self.status = status
        super().__init__(what)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is refused: urllib would carry the key to wherever it points."""

    def redirect_request(self, *_: object) -> None:
        return None


def address_of(server: Server, slug: str) -> Address:
    """Address and key from the block and the environment. Raises BuildError for a variable that is not set."""
    url = server.url or _variable(server.url_variable or "", slug)
    key = _variable(server.api_key_variable, slug) if server.api_key_variable else None
    if not url.startswith(("http://", "https://")) or "@" in url:
        raise BuildError(
            "its address is none",
            where=slug,
            expected="http://host:port without a user or a password",
            next_step=f"Correct {server.url_variable}.",
        )
    return Address(url.rstrip("/").removesuffix("/v1"), key)


def _variable(name: str, slug: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise BuildError(f"the environment variable {name} is not set", where=slug, next_step=f"Set {name}.")
    return value


def proven_server(server: Server, slug: str, timeout_s: float) -> dict[str, Any]:
    """What answers, and that it generates, as fields of a fingerprint. Raises BuildError.

    ``build_hash`` is over everything that was said and declared: another model or version is another build.
    """
    asking = _Asking(address_of(server, slug), slug, timeout_s)
    said = asking.said()
    models = asking.models()
    _refuse_contradictions(server.facts, said, slug)
    n_proof_tok = asking.proof(served_model(server, models, slug))
    facts = ServerFacts(
        url=asking.address.url, models=models, said=said, declared=server.facts, n_proof_tok=n_proof_tok
    )
    named = facts.model_dump_json(exclude={"n_proof_tok"})
    return {
        "build_hash": hashlib.sha256(named.encode()).hexdigest()[:16],
        "reported_version": said.get("version"),
        "server": facts,
    }


def _refuse_contradictions(declared: Mapping[str, str], said: Mapping[str, str], slug: str) -> None:
    for name, value in declared.items():
        if said.get(name, value) != value:
            raise BuildError(
                f"the server says another {name} than its block",
                where=slug,
                expected=value,
                found=said[name],
                next_step="Correct the block, or ask the right server.",
            )


def served_model(server: Server, models: tuple[str, ...], slug: str) -> str:
    """The served model to ask. Raises BuildError where there is none of that name.

    An engine may answer for a name that it does not serve, so the list decides.
    """
    model = server.model or (models[0] if models else "")
    if model not in models or not model:
        raise BuildError(
            f"it does not serve {model or 'any model'}",
            where=slug,
            found=", ".join(models) or "no model",
            next_step="Correct model in its block.",
        )
    return model


@dataclass(frozen=True)
class _Asking:
    address: Address
    slug: str
    timeout_s: float

    def said(self) -> dict[str, str]:
        """What the server says of itself, by the first of the ways that it knows; empty where it knows none."""
        for path in SAYS_WHAT_IT_IS:
            try:
                answer = self._json(path)
            except _NoAnswerError:
                continue
            return {name: str(value) for name, value in sorted(answer.items()) if name in KEPT and value is not None}
        return {}

    def models(self) -> tuple[str, ...]:
        try:
            return tuple(str(model["id"]) for model in self._json("/v1/models")["data"])
        except (_NoAnswerError, KeyError, TypeError) as error:
            raise self._error("lists no models under /v1/models", str(error)) from None

    def proof(self, model: str) -> int:
        """Tokens that it generated for one question, which is asked once and answered with at most one token."""
        try:
            answer = self._one_token(model)
        except _NoAnswerError as error:
            raise self._error("generates no token", str(error)) from None
        n_tok = (answer.get("usage") or {}).get("completion_tokens")
        if not isinstance(n_tok, int) or n_tok < 1:
            raise self._error("generates no token", json.dumps(answer)[:200])
        return n_tok

    def _one_token(self, model: str) -> dict[str, Any]:
        try:
            messages = [{"role": "user", "content": PROOF}]
            return self._json("/v1/chat/completions", {"model": model, "max_tokens": 1, "messages": messages})
        except _NoAnswerError as error:
            if error.status not in NO_CHAT:
                raise
        return self._json("/v1/completions", {"model": model, "max_tokens": 1, "prompt": PROOF})

    def _json(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one request. Raises _NoAnswerError where status or body are no answer, else BuildError."""
        headers = {"Content-Type": "application/json"}
        if self.address.api_key:
            headers["Authorization"] = f"Bearer {self.address.api_key}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address.url + path, data=data, headers=headers)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=self.timeout_s) as response:
                answer = json.loads(response.read(MOST_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (401, 403):
                raise self._error(f"refuses the key (HTTP {error.code})", "", "Set the variable of its key.") from None
            raise _NoAnswerError(f"HTTP {error.code} for {path}", error.code) from None
        except ValueError:
            raise _NoAnswerError(f"no JSON under {path}", 200) from None
        except (OSError, http.client.HTTPException) as error:  # URLError and time-outs are OSErrors
            raise self._silent(str(getattr(error, "reason", error))) from None
        if not isinstance(answer, dict):
            raise _NoAnswerError(f"no JSON object under {path}", 200)
        return answer

    def _error(self, what: str, found: str, next_step: str = "Start it, or correct its address.") -> BuildError:
        return BuildError(f"the server {what}", where=self._where, found=found, next_step=next_step)

    def _silent(self, found: str) -> BuildError:
        next_step = "Start it, or correct its address."
        return BuildError(
            "the server does not answer", where=self._where, found=found, next_step=next_step, kind="unreachable"
        )

    @property
    def _where(self) -> str:
        return f"{self.slug} at {self.address.url}"
