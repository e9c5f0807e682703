"""The shops of the fault runs, served on loopback, and a store in which they are registered."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fleet import add_shops
from benchmarks.served_site import catalog_lines, served
from catalog.feeds.importing import import_offers
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout.demo.assortment.demo_shop import DemoShop
from scout.demo.server import serve

MIRRORED = Path(__file__).parents[2].parent / "shared" / "data" / "sites"
SHAPES = ("small", "demo", "mirrored")


def missing_shape(shape: str, sites: Path) -> str | None:
    """Return why shops of a shape cannot be served; None where they can."""
    if shape == "mirrored" and not sites.is_dir():
        return f"there is no folder of mirrored shops, {sites}"
    return None


@dataclass
class ServedShops:
    """Root URLs of generated shops, the demo shop, and mirrored shops by their folder."""

    pages: int
    generated: Sequence[str] = ()
    demo: str = ""
    mirrored: dict[Path, str] = field(default_factory=dict)

    def register(self, settings: Settings) -> None:
        """Add all shops and their known offers to a new store."""
        add_shops(settings.data_dir, self.generated, self.pages, settings)
        store = Store.open(settings)
        if self.demo:
            feed = settings.data_dir / "demo.xml"
            feed.write_bytes(DemoShop.make().feed(self.demo))
            self._add(store, "demo", self.demo, feed)
        for folder, root in self.mirrored.items():
            start = json.loads((folder / "truth.json").read_text()).get("start", "")
            feed = settings.data_dir / f"{folder.name}.jsonl"
            feed.write_text(catalog_lines(folder, root), encoding="utf-8")
            self._add(store, folder.name, f"{root}/{start}", feed)
        store.engine.dispose()

    def _add(self, store: Store, name: str, url: str, feed: Path) -> None:
        with store.write() as session:
            shop = Shop(name=name, url=url, allow_private=True)
            session.add(shop)
        import_offers(store, shop, str(feed))


@contextmanager
def serve_shops(
    shapes: Sequence[str], *, small: int, pages: int, mirrored: int, sites: Path
) -> Iterator[ServedShops]:
    """Serve `small` generated shops, the demo shop, and the smallest mirrored ones of a folder."""
    shops = ServedShops(pages)
    with ExitStack() as stack:
        if "small" in shapes:
            arguments = ["--shops", str(small), "--pages", str(pages), "--etags"]
            shops.generated = stack.enter_context(served(*arguments))
        if "demo" in shapes:
            shops.demo = stack.enter_context(serve(DemoShop.make())).url
        if "mirrored" in shapes:
            folders = [archive.parent for archive in sites.glob("*/www.tar.xz")]
            folders.sort(key=lambda folder: (folder / "www.tar.xz").stat().st_size)
            for folder in folders[:mirrored]:
                shops.mirrored[folder] = stack.enter_context(served(str(folder), "--etags"))[0]
        yield shops
