"""The shapes of marks: defined once a page or file, referred to by every mark, and shown in the legend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

FAINT_SCALE = 0.65
"""Size of a faint mark over that of a full one."""

_OUTLINES = {
    "circle": '<circle r="4.5"/>',
    "square": '<path d="M-4.2-4.2h8.4v8.4h-8.4z"/>',
    "triangle-up": '<path d="M0-5l5.2 9h-10.4z"/>',
    "diamond": '<path d="M0-6l4.2 6-4.2 6-4.2-6z"/>',
    "cross": '<path d="M-1.7-5h3.4v3.3H5v3.4H1.7V5h-3.4V1.7H-5v-3.4h3.3z"/>',
    "triangle-down": '<path d="M0 5l5.2-9h-10.4z"/>',
    "triangle-right": '<path d="M5 0l-9 5.2v-10.4z"/>',
    "triangle-left": '<path d="M-5 0l9 5.2v-10.4z"/>',
}


def reference(shape: str, *, faint: bool) -> str:
    """What a mark of that shape refers to."""
    return f"#{_name(shape, faint)}"


def _name(shape: str, faint: bool) -> str:
    return f"{'dim' if faint else 'mark'}-{shape}"


def definitions(shapes: Iterable[str]) -> str:
    """The shapes in both sizes, each once, for one document; they are not seen where they stand."""
    known = sorted(set(shapes))
    full = "".join(f'<g id="{_name(shape, False)}">{_OUTLINES[shape]}</g>' for shape in known)
    small = "".join(
        f'<g id="{_name(shape, True)}" transform="scale({FAINT_SCALE})">{_OUTLINES[shape]}</g>' for shape in known
    )
    return f"<defs>{full}{small}</defs>"


def swatch(look: dict[str, Any]) -> str:
    """A series' line and mark, small, for a legend."""
    dash = ",".join(map(str, look["dash"]))
    dashed = "" if dash == "1,0" else f' stroke-dasharray="{dash}"'
    line = f'<path d="M0 8H36" stroke="{look["colour"]}" stroke-width="2.5"{dashed}/>'
    mark = (
        f'<g fill="{look["fill"]}" stroke="{look["colour"]}" stroke-width="2" transform="translate(18,8)">'
        f"{_OUTLINES[look['shape']]}</g>"
    )
    return f'<svg class="chart swatch" viewBox="0 0 36 16" width="36" height="16" aria-hidden="true">{line}{mark}</svg>'
