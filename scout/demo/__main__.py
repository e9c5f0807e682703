"""`python -m scout.demo`: serve the demo shop until Ctrl-C, and write its feed on request."""

import threading
from pathlib import Path
from typing import Annotated

import typer

from scout.demo.assortment.demo_shop import DEFAULT_SEED, DemoShop
from scout.demo.server import serve


def main(
    port: Annotated[int, typer.Option(help="Port to serve on; 0 takes a free one.")] = 8320,
    feed: Annotated[
        Path | None, typer.Option(help="Write the merchant's feed (Google Merchant XML) here.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the assortment.")] = DEFAULT_SEED,
    redesigned: Annotated[bool, typer.Option(help="The same shop in other markup.")] = False,
) -> None:
    """Serve the demo shop on 127.0.0.1 until Ctrl-C."""
    shop = DemoShop.make(seed, redesigned)
    try:
        with serve(shop, port) as served:
            if feed:
                feed.write_bytes(shop.feed(served.url))
            typer.echo(served.url)
            # Waits for ever: only a signal ends the command.
            threading.Event().wait()
    except OSError as error:
        typer.echo(
            f"the demo shop cannot be served on port {port}: {error.strerror}; try --port 0",
            err=True,
        )
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo("")


if __name__ == "__main__":
    typer.run(main)
