"""The published folder over HTTP, for this machine only. Publishing swaps the folder under it without a restart."""

import http.server
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path

from pipeline.errors import StoreError

HOST = "127.0.0.1"


class SiteHandler(http.server.SimpleHTTPRequestHandler):
    """Files of the site, its own page for what is not there, and no log of every request."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".parquet": "application/vnd.apache.parquet",
        ".duckdb": "application/octet-stream",
        ".xml": "application/xml",
        ".cff": "text/plain; charset=utf-8",
    }

    def end_headers(self) -> None:
        """Add what a meta element cannot say."""
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """404.html of the site for a missing file."""
        page = Path(self.directory) / "404.html"
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        content = page.read_bytes()
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def list_directory(self, path: str) -> None:  # type: ignore[override]
        """No listing: a folder without a page is not there."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def site_server(site: Path, port: int) -> Iterator[http.server.ThreadingHTTPServer]:
    """A server of the folder on 127.0.0.1 (port 0: any free one), closed at the end. Raises StoreError."""
    if not (site / "index.html").is_file():
        raise StoreError("no site is published", where=str(site), next_step="Run frontier publish first.")
    try:
        server = http.server.ThreadingHTTPServer((HOST, port), partial(SiteHandler, directory=str(site)))
    except OSError as error:
        raise StoreError(
            f"cannot listen ({error.strerror or error})",
            where=f"{HOST}:{port}",
            next_step="Name another port with --port.",
        ) from error
    with server:
        yield server
