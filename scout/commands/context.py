"""What all commands share: the global flags, and the settings and store that follow from them, opened when needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from catalog.models import Run, Shop
    from catalog.runtime.progress import Progress
    from catalog.runtime.settings import Settings
    from catalog.storage.store import Store

MOST_ROWS = 1_000_000_000
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of tables.")]
ShopName = Annotated[
    str, typer.Argument(metavar="SHOP", help="The shop's name, as given to 'scout shop add'.")
]


def to_be_written(path: Path | None) -> Path | None:
    """A file that an option names, looked at before any work is done. Raises UsageError where it cannot be made."""
    from catalog.errors import UsageError

    if path is not None and path.is_dir():
        raise UsageError(f"{path} cannot be written: it is a folder")
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"{path} cannot be written: {path.parent} is no folder")
    return path


@dataclass
class Call:
    """One call of `scout`: its global flags. A flag that is None was not given."""

    verbose: bool = False
    database_url: str | None = None
    data_dir: Path | None = None

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force. Raises ConfigError."""
        from catalog.runtime.settings import Settings
        from scout.terminal import logs

        settings = Settings.load(database_url=self.database_url, data_dir=self.data_dir)
        logs.configure(settings, self.verbose)
        return settings

    @cached_property
    def store(self) -> "Store":
        """The store, open. Raises StoreError, ConfigError."""
        from catalog.storage.store import Store

        return Store.open(self.settings)

    def shop(self, name: str) -> "Shop":
        """The shop of that name. Raises UnknownShop."""
        return self.store.shop(name)

    @contextmanager
    def progress(self) -> "Iterator[Progress]":
        """Progress on standard error for the block."""
        from scout.terminal.progress import shown

        with shown(as_json=self.settings.log_format == "json") as progress:
            if not self.settings.metrics_port:
                yield progress
                return
            from scout.metrics.live import told_on

            with told_on(self.settings.metrics_port, progress) as told:
                yield told

    def flags(self) -> list[str]:
        """The global flags as given, for a process of the same kind."""
        words = ["--verbose"] if self.verbose else []
        for name, value in (("--database-url", self.database_url), ("--data-dir", self.data_dir)):
            words += [name, str(value)] if value is not None else []
        return words


def call(context: typer.Context) -> Call:
    """The call that a command belongs to."""
    found = context.find_object(Call)
    assert found is not None
    return found


def latest_run(here: Call, shop: "Shop") -> "Run":
    """The shop's newest run. Raises UsageError where there is none yet."""
    from catalog.errors import UsageError
    from scout.pipeline import pipeline

    run = pipeline.latest(here.store, shop)
    if run is None:
        raise UsageError(f"shop {shop.name!r} has not been run yet: 'scout run {shop.name}'")
    return run


def group(name: str, about: str) -> typer.Typer:
    """A group of commands, such as `scout shop ...`."""
    return typer.Typer(name=name, help=about, no_args_is_help=True, rich_markup_mode=None)
