"""What the scripted server answers: a stream of events with known times, as pure data.

Belongs here: the script of a server, its faults, and the events of one answer. Not here: the socket that plays them
(resources/scripted_server.py).

An output token is the text "a" and an input token is one byte of a message, so a byte-level tokenizer
(pipeline/sweep/byte_tokenizer.py) counts the same as the server, exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

FaultKind = Literal["http_500", "http_429", "error_in_stream", "no_finish", "cut", "stall"]
HTTP_STATUS = {"http_500": 500, "http_429": 429}
TOKEN_TEXT = "a"


@dataclass(frozen=True)
class Fault:
    """What goes wrong with every ``every``-th request, the first being ``first`` (0-based).

    http_500 and http_429 come instead of a stream. The others come after ``after_tok`` tokens: error_in_stream is an
    error object and an orderly end; no_finish an orderly end without finish reason, usage and [DONE]; cut closes the
    connection; stall says nothing for ``stall_s`` and goes on.
    """

    kind: FaultKind
    every: int = 1
    first: int = 0
    after_tok: int = 4
    stall_s: float = 0.0

    def hits(self, ordinal: int) -> bool:
        """Whether it is the fate of the request with this 0-based ordinal."""
        return ordinal >= self.first and (ordinal - self.first) % self.every == 0


@dataclass(frozen=True)
class Script:
    """How a server answers: the first tokens ``ttft_s`` after the request, then one token every ``tpot_s``.

    Tokens come ``chunk_tok`` at a time: the k-th chunk at ttft_s + k × chunk_tok × tpot_s, so the time per token
    after the first chunk is tpot_s. ``role_chunk``: an empty chunk that only names the role, at once.
    The first ``reasoning_tok`` tokens come as reasoning_content. ``output_tok`` is for a request without a limit.
    ``usage``: the token counts at the end, with ``cached_tok`` of the input called cached where it is above 0.
    ``chunk_usage``: also in every chunk that a request asks it for.
    """

    ttft_s: float = 0.2
    tpot_s: float = 0.02
    chunk_tok: int = 1
    usage: bool = True
    chunk_usage: bool = True
    cached_tok: int = 0
    role_chunk: bool = False
    reasoning_tok: int = 0
    output_tok: int = 16
    faults: tuple[Fault, ...] = ()

    def fault_of(self, ordinal: int) -> Fault | None:
        """The first fault that hits the request, None for an answer without one."""
        return next((fault for fault in self.faults if fault.hits(ordinal)), None)


@dataclass(frozen=True)
class Asked:
    """One request: its 0-based ordinal, tokens, and whether it wants usage in every chunk."""

    ordinal: int
    input_tok: int
    output_tok: int
    chunk_usage: bool = False


@dataclass(frozen=True)
class Event:
    """One thing that happens ``at_s`` after the request: bytes are sent, or the connection is cut (None).

    ``n_tok`` are the output tokens that it carries.
    """

    at_s: float
    payload: bytes | None
    n_tok: int = 0


def asked_of(body: Mapping[str, Any], ordinal: int, script: Script) -> Asked:
    """A chat completion request: bytes of all messages, and the limit of its output."""
    contents = (message.get("content") or "" for message in body.get("messages", ()))
    input_tok = sum(len(_text(content).encode()) for content in contents)
    limit = body.get("max_completion_tokens") or body.get("max_tokens") or script.output_tok
    wants = bool((body.get("stream_options") or {}).get("continuous_usage_stats"))
    return Asked(ordinal, input_tok, int(limit), wants and script.chunk_usage)


def answer(script: Script, asked: Asked) -> Iterator[Event]:
    """The events of one streamed answer, in order."""
    fault = script.fault_of(asked.ordinal)
    if script.role_chunk:
        yield Event(0.0, _chunk(asked, {"role": "assistant", "content": ""}))
    n_sent, late_s = 0, 0.0
    while n_sent < asked.output_tok:
        at_s = script.ttft_s + n_sent * script.tpot_s
        if fault is not None and n_sent >= fault.after_tok:
            if fault.kind != "stall":
                yield from _broken_off(fault, at_s)
                return
            late_s = fault.stall_s
        n_tok = min(script.chunk_tok, asked.output_tok - n_sent)
        n_sent += n_tok
        yield Event(at_s + late_s, _tokens(script, asked, n_sent - n_tok, n_tok), n_tok)
    yield Event(at_s + late_s, _end(script, asked))


def script_text(script: Script) -> str:
    """A script as JSON, for a command line."""
    return json.dumps(asdict(script))


def script_from(text: str) -> Script:
    """The script of a JSON text. Raises ValueError, KeyError or TypeError for what is none."""
    fields = json.loads(text)
    return Script(**{**fields, "faults": tuple(Fault(**fault) for fault in fields.get("faults", ()))})


def _broken_off(fault: Fault, at_s: float) -> Iterator[Event]:
    if fault.kind == "error_in_stream":
        error = {"error": {"message": "scripted error", "type": "InternalServerError", "code": 500}}
        yield Event(at_s, _line(error))
    elif fault.kind == "cut":
        yield Event(at_s, None)


def _tokens(script: Script, asked: Asked, n_before: int, n_tok: int) -> bytes:
    n_reasoning = max(0, min(n_tok, script.reasoning_tok - n_before))
    delta = {}
    if n_reasoning:
        delta["reasoning_content"] = TOKEN_TEXT * n_reasoning
    if n_tok > n_reasoning:
        delta["content"] = TOKEN_TEXT * (n_tok - n_reasoning)
    usage = _usage(script, asked, n_before + n_tok) if asked.chunk_usage else None
    return _chunk(asked, delta, usage=usage)


def _end(script: Script, asked: Asked) -> bytes:
    finish = _chunk(asked, {}, finish="length")
    if not script.usage:
        return finish + b"data: [DONE]\n\n"
    usage = {"id": _id(asked), "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": []}
    return finish + _line({**usage, "usage": _usage(script, asked, asked.output_tok)}) + b"data: [DONE]\n\n"


def _usage(script: Script, asked: Asked, output_tok: int) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": asked.input_tok,
        "completion_tokens": output_tok,
        "total_tokens": asked.input_tok + output_tok,
    }
    if script.cached_tok:
        usage["prompt_tokens_details"] = {"cached_tokens": min(script.cached_tok, asked.input_tok)}
    if script.reasoning_tok:
        usage["completion_tokens_details"] = {"reasoning_tokens": min(script.reasoning_tok, output_tok)}
    return usage


def _chunk(
    asked: Asked, delta: Mapping[str, str], *, finish: str | None = None, usage: Mapping[str, Any] | None = None
) -> bytes:
    body: dict[str, Any] = {
        "id": _id(asked),
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return _line(body | ({"usage": usage} if usage else {}))


def _id(asked: Asked) -> str:
    return f"chatcmpl-{asked.ordinal}"


def _line(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, separators=(",", ":")).encode() + b"\n\n"


def _text(content: Any) -> str:
    """A message's text, given plainly or in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return str(content)
