"""The templates that ship in templates/, with escaping on for every text from data, and control characters dropped."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from importlib import resources

import jinja2

from pipeline.pages import basis, chart_words, formats, freshness, wording
from pipeline.pages.calculator import calculator_data, calculator_json
from pipeline.pages.policy import POLICY
from pipeline.pages.price_words import price_notes
from pipeline.pages.structured_data import script_text
from pipeline.plain_text import plain


def template_text(name: str) -> str:
    """The text of one shipped template or stylesheet."""
    return resources.files("pipeline.pages").joinpath("templates", name).read_text(encoding="utf-8")


@functools.cache
def environment() -> jinja2.Environment:
    """Autoescape on, an unknown name is an error; ``fmt``, ``words``, ``basis``, ``fresh``: formats and sentences."""
    found = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
        autoescape=True,
        finalize=_finalized,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.globals.update(fmt=formats, words=wording, basis=basis, fresh=freshness, price_notes=price_notes)
    found.globals.update(calculator_data=calculator_data, csp=POLICY, CHART_NAME=chart_words.NAME)
    found.filters.update(shown=shown, safe_link=safe_link, capitalized=formats.capitalized)
    found.filters.update(calculator_json=calculator_json, script_text=script_text)
    return found


def shown(value: object, how: Callable[..., str] = str) -> str:
    """A value in a format, "–" for None."""
    return "–" if value is None else how(value)


def safe_link(url: str | None) -> str | None:
    """The address where it is http or https; None for any other scheme, such as javascript."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


def escaped(text: str) -> str:
    """A text for an element's content or a quoted attribute of HTML or XML, without what XML does not allow."""
    return html.escape(plain(text), quote=True)


def _finalized(value: object) -> object:
    """Every value that a template prints passes here before it is escaped; markup has passed already."""
    return plain(value) if type(value) is str else value
