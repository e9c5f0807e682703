"""A shop with a generator in it: near-duplicate pages under endless names, as plain as any category's."""

import hashlib
import re
from dataclasses import dataclass

from tests.crawler.server import Reply, Visit

WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh north ocean plain".split()
CATEGORIES = 4


@dataclass(frozen=True)
class Tarpit:
    """So many offers in four categories; every page but an offer's leads to five generated ones."""

    offers: int = 60

    def paths(self) -> set[str]:
        """The address of every offer."""
        return {f"/p/offer-{number}" for number in range(self.offers)}

    def answer(self, visit: Visit) -> Reply:
        """The page at a path."""
        if visit.path in ("/robots.txt", "/sitemap.xml"):
            return 404, {}, b""
        title, text, links = self._page(visit.path)
        menu = ["/", *(f"/c/{number}" for number in range(CATEGORIES))]
        anchors = " ".join(f'<a href="{link}">{link[-12:]}</a>' for link in [*menu, *links])
        html = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>{anchors}</body></html>"
        return 200, {"Content-Type": "text/html; charset=utf-8"}, html.encode()

    def _page(self, path: str) -> tuple[str, str, list[str]]:
        if offer := re.fullmatch(r"/p/offer-(\d+)", path):
            return f"Offer {offer[1]}", f"{offer[1]},99 &euro; <button>add to cart</button>", []
        generated = [_name(f"{path}{number}") for number in range(5)]
        if category := re.fullmatch(r"/c/(\d)", path):
            offers = range(int(category[1]), self.offers, CATEGORIES)
            return (
                f"Category {category[1]}",
                "Things",
                [*(f"/p/offer-{number}" for number in offers), *generated],
            )
        return (
            ("Shop", "Welcome", generated)
            if path == "/"
            else ("Our story", f"We are old. {_name(path)}", generated)
        )


def _name(seed: str) -> str:
    number = int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=2).digest())
    return "/" + "-".join(WORDS[number >> shift & 15] for shift in (0, 4, 8, 12))
