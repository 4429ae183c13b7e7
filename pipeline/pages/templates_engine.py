"""The templates that ship in templates/, with escaping on for every text from data."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from importlib import resources

import jinja2

from pipeline.pages import basis, formats, wording


def template_text(name: str) -> str:
    """The text of one shipped template or stylesheet."""
    return resources.files("pipeline.pages").joinpath("templates", name).read_text(encoding="utf-8")


@functools.cache
def environment() -> jinja2.Environment:
    """Autoescape on, an unknown name is an error; ``fmt``, ``words`` and ``basis`` are formats and sentences."""
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.globals.update(fmt=formats, words=wording, basis=basis)
    found.filters.update(shown=shown, safe_link=safe_link)
    return found


def shown(value: object, how: Callable[..., str] = str) -> str:
    """A value in a format, "–" for None."""
    return "–" if value is None else how(value)


def safe_link(url: str | None) -> str | None:
    """The address where it is http or https; None for any other scheme, such as javascript."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


def escaped(text: str) -> str:
    """A text for an element's content or a quoted attribute."""
    return html.escape(text, quote=True)
