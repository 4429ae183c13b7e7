"""Code points that no file of ours may hold: what XML 1.0 does not allow, and all control characters but white space.

Belongs here: which they are, finding and dropping them. Escaping is the pages'; the length of a text is its reader's.
"""

from __future__ import annotations

import re

_NOT_PLAIN = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def plain(text: str) -> str:
    """The text without C0 and C1 control characters (tab and line ends stay), lone surrogates, U+FFFE and U+FFFF."""
    return _NOT_PLAIN.sub("", text)


def refuse_control_characters(text: str) -> str:
    """The text as it is. Raises ValueError, which a validation reports, for one that ``plain`` would change."""
    found = _NOT_PLAIN.search(text)
    if found:
        raise ValueError(f"a character that no page can show; found U+{ord(found[0]):04X} in {text[:80]!r}")
    return text
