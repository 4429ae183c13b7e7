"""Two processes that publish at once, as a daemon and a command do."""

import time

from tests.faults import acts
from tests.faults.children import PATIENCE_S, told
from tests.faults.site_states import files_of, is_whole, temporary
from tests.faults.test_kills import publication  # noqa: F401 - a fixture


def test_two_publishers_at_once_give_the_site_and_the_log_of_one(publication, children, copied, rng):  # noqa: F811
    home = copied(publication.home)
    first = children.start(acts.publish, home)
    time.sleep(rng.uniform(0, publication.took_s / 2))
    second = children.start(acts.publish, home)
    while first.is_alive() or second.is_alive():
        assert (home / "site" / "index.html").read_bytes() in (
            publication.old["index.html"],
            publication.new["index.html"],
        )
    for child in (first, second):
        child.join(PATIENCE_S)
        assert child.exitcode == 0, told(home)
    assert files_of(home / "site") == publication.new
    assert is_whole(home / "site")
    assert (home / "store/changes/changes.parquet").read_bytes() == publication.log
    assert temporary(home) == []
