"""Files that are not what was written: of the published site, and of what nothing derives (imports, sweeps, log)."""

from collections.abc import Collection, Iterator

from assets.finding import PUBLISH, Finding
from pipeline.errors import StoreError
from pipeline.pages.formats import counted
from resources.atomic_files import sha256_of
from resources.change_log import ChangeLog
from resources.import_store import ImportStore
from resources.published_files import published_hashes
from resources.site import Site
from resources.sweep_store import SweepStore

N_NAMED = 5


def damaged_sources(sweep_store: SweepStore) -> Iterator[Finding]:
    """Unreadable files of imports, sweeps and the log of changes, and what a person can do. Those alike are counted."""
    root = sweep_store.root_dir
    for store in (ImportStore(root_dir=root), sweep_store, ChangeLog(root_dir=root)):
        alike: dict[str, list[StoreError]] = {}
        for error in store.damaged():
            alike.setdefault(error.what, []).append(error)
        for what, (first, *others) in alike.items():
            more = f"; {counted(len(others), 'more file')} alike" if others else ""
            yield Finding(first.where, f"{what}{more}", first.next_step)


def altered_files(publisher: Site, but: Collection[str]) -> Iterator[Finding]:
    """Published files that are gone or have other bytes than were published; ``but`` names those looked at already."""
    live = publisher.live
    hashes = published_hashes(live)
    if hashes is None:
        if live.is_dir():
            yield Finding("site", "which files were published is not remembered", PUBLISH)
        return
    looked_at = {name: sha256 for name, sha256 in sorted(hashes.items()) if name not in but}
    gone = [name for name in looked_at if not (live / name).is_file()]
    altered = [n for n in looked_at.keys() - set(gone) if sha256_of((live / n).read_bytes()) != looked_at[n]]
    for names, what in ((gone, "gone"), (sorted(altered), "not as published")):
        if names:
            more = f" and {len(names) - N_NAMED} more" if len(names) > N_NAMED else ""
            verb = "is" if len(names) == 1 else "are"
            shown = f"{', '.join(names[:N_NAMED])}{more}"
            yield Finding("site", f"{counted(len(names), 'published file')} ({shown}) {verb} {what}", PUBLISH)
