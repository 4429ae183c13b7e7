"""The published folder: what did not change is not written, and what fails leaves the old one."""

import hashlib
import os
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import duckdb
import pytest

from pipeline.errors import StoreError
from pipeline.pages.published_tables import PUBLISHED
from resources.downloads import write_downloads
from resources.site import Site
from resources.site_server import site_server


@pytest.fixture
def site(tmp_path):
    return Site(site_dir=str(tmp_path / "site"))


def published(site, **files):
    with site.build() as folder:
        folder.write_all(files)
    return folder


def test_an_unchanged_file_is_taken_over_and_a_changed_one_written(site):
    published(site, a="one", b="two")
    before = {name: (site.live / name).stat().st_ino for name in ("a", "b")}
    folder = published(site, a="one", b="new")
    assert (folder.n_kept, folder.n_written) == (1, 1)
    assert (site.live / "a").stat().st_ino == before["a"]
    assert (site.live / "b").stat().st_ino != before["b"]
    assert [(site.live / name).read_text() for name in ("a", "b")] == ["one", "new"]


@pytest.mark.parametrize("again", [["on", "e"], ["o", "ne"]])
def test_a_file_that_is_written_in_parts_is_taken_over_as_well(site, again):
    published(site, a="one")
    with site.build() as folder:
        assert folder.write_parts("a", iter(again))
        assert not folder.write_parts("b/c", ["new"])
        assert folder.files() == {"a", "b/c"}
    assert (folder.n_kept, folder.n_written) == (1, 1)
    with site.build() as folder:
        assert not folder.write_parts("a", ["tw", "o"])
    assert (site.live / "a").read_text() == "two"


def test_a_file_that_is_no_longer_published_is_gone(site):
    published(site, a="one", b="two")
    published(site, a="one")
    assert sorted(p.name for p in site.live.iterdir()) == ["a"]


def test_a_file_that_somebody_changed_in_place_is_written_again(site):
    published(site, a="one")
    (site.live / "a").write_text("two")
    published(site, a="one")
    assert (site.live / "a").read_text() == "one"


def test_without_links_files_are_written(site, monkeypatch):
    def refuse(*_):
        raise OSError("no links here")

    published(site, a="one")
    monkeypatch.setattr(os, "link", refuse)
    assert published(site, a="one").n_written == 1


def hashes(**files):
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}


def test_files_with_the_remembered_hashes_are_taken_over_all_or_none(site):
    published(site, a="one", b="two")
    with site.build() as folder:
        assert folder.take_over(hashes(a="one", b="two"))
        assert (folder.n_kept, folder.n_written) == (2, 0)
    with site.build() as folder:
        assert not folder.take_over(hashes(a="one", b="new"))
        assert not folder.take_over(hashes(a="one", c="none"))
        assert (folder.n_kept, folder.files()) == (0, set())
        folder.write_all({"a": "one", "b": "two"})


def test_a_file_that_cannot_be_taken_over_leaves_no_link_that_a_write_would_follow(site, monkeypatch):
    published(site, a="one", b="two")
    link = os.link

    def only_the_first(old, new):
        if new.name != "a":
            raise OSError("no links here")
        link(old, new)

    monkeypatch.setattr(os, "link", only_the_first)
    with site.build() as folder:
        assert not folder.take_over(hashes(a="one", b="two"))
        assert (folder.n_kept, folder.files()) == (0, set())
        folder.write_all({"a": "other", "b": "two"})
        assert (site.live / "a").read_text() == "one"


def test_a_failed_build_leaves_the_old_site_as_it_was(site, tmp_path):
    published(site, a="one")
    with pytest.raises(StoreError, match="cannot build the site"), site.build() as folder:
        folder.write_all({"a": "half", "a/b": "a file below a file"})
    assert (site.live / "a").read_text() == "one"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["site"]


def downloads(site, texts=None):
    with site.build() as folder:
        found = write_downloads(folder, lambda table: table.empty(), texts or {"CITATION.cff": "cff"})
    return folder, found


def test_downloads_have_two_forms_of_each_table_one_database_and_checksums(site):
    _, found = downloads(site)
    names = {f"{p.file}.{ending}" for p in PUBLISHED for ending in ("parquet", "csv")}
    assert set(found) == names | {"published.duckdb", "CITATION.cff"}
    sums = (site.live / "data/SHA256SUMS").read_text().splitlines()
    assert {line.split("  ")[1]: line.split("  ")[0] for line in sums} == {n: f.sha256 for n, f in found.items()}


def test_the_database_is_read_only_and_describes_its_columns(site):
    downloads(site)
    path = site.live / "data/published.duckdb"
    assert path.stat().st_mode & 0o222 == 0
    with duckdb.connect(str(path), read_only=True) as connection:
        names = {row[0] for row in connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()}
        assert names == {p.table.name for p in PUBLISHED}
        comment = "SELECT comment FROM duckdb_columns() WHERE table_name = 'points' AND column_name = 'power_w_gpu'"
        assert connection.sql(comment).fetchall() == [("mean power of one GPU over the window [W]",)]


def test_unchanged_tables_keep_the_database_to_the_byte(site):
    downloads(site)
    before = (site.live / "data/published.duckdb").stat().st_ino
    folder, _ = downloads(site)
    assert folder.n_written == 0
    assert (site.live / "data/published.duckdb").stat().st_ino == before


@contextmanager
def serving(site):
    with site_server(site.live, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def get(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def test_the_site_is_served_and_a_new_publication_shows_without_a_restart(site):
    published(site, **{"index.html": "old", "404.html": "not here", "data/x.parquet": "p"})
    with serving(site) as url:
        assert get(url)[:2] == (200, "old")
        published(site, **{"index.html": "new", "404.html": "not here"})
        status, text, headers = get(url)
        assert (status, text) == (200, "new")
        assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert get(f"{url}data/x.parquet")[0] == 404


def test_what_is_not_there_gets_the_sites_own_page_and_folders_are_not_listed(site):
    published(site, **{"index.html": "x", "404.html": "not here", "data/x.parquet": "p"})
    with serving(site) as url:
        assert get(f"{url}nothing")[:2] == (404, "not here")
        assert get(f"{url}data/")[:2] == (404, "not here")
        assert get(f"{url}..%2f..%2fetc/passwd")[0] == 404
        assert get(f"{url}data/x.parquet")[2]["Content-Type"] == "application/vnd.apache.parquet"


def test_without_a_site_or_a_free_port_serving_is_refused_in_one_sentence(site):
    with pytest.raises(StoreError, match="Run frontier publish first"), site_server(site.live, 0):
        pass
    published(site, **{"index.html": "x"})
    with serving(site) as url:
        port = int(url.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(StoreError, match="Name another port"), site_server(site.live, port):
            pass
