"""Pages at the old addresses of renamed slugs, for hosts that cannot redirect, and the rules for those that can."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pipeline.pages.inputs import SiteFacts
from pipeline.pages.paths import root_from
from pipeline.pages.templates_engine import environment

_PARTS = re.compile(r"(/|-on-|-vs-)")


def old_addresses(paths: Iterable[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Today's page folders by the address that they had under each old slug; both end in a slash."""
    found = {}
    for old, new in sorted(renamed.items()):
        for path in paths:
            parts = _PARTS.split(path)
            if new in parts:
                found["".join(old if part == new else part for part in parts)] = path
    return found


def redirect_files(moved: Mapping[str, str], site: SiteFacts) -> dict[str, str]:
    """One page a moved address, and _redirects (Netlify, Cloudflare Pages) where there are any."""
    template = environment().get_template("moved.html")
    pages = {
        f"{old}index.html": template.render(site=site, root=root_from(old), to=root_from(old) + new, path=new)
        for old, new in moved.items()
    }
    rules = "".join(f"/{old} /{new} 301\n" for old, new in sorted(moved.items()))
    return pages | ({"_redirects": rules} if rules else {})
