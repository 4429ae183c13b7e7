"""`frontier serve`: the published site on this machine."""

from typing import Annotated

import typer
from rich.console import Console


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0: any free one.")] = 8000,
) -> None:
    """Show the published site on 127.0.0.1 until it is stopped. A new publication shows without a restart."""
    from pipeline.launch import published_site
    from resources.site_server import HOST, site_server

    with site_server(published_site(), port) as server:
        Console(highlight=False, markup=False).print(f"http://{HOST}:{server.server_port}/ (Ctrl-C stops it)")
        server.serve_forever()
