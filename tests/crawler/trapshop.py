"""A shop full of traps, with offers behind and between them; each page is generated on request.

An endless calendar, six facets of five values on every list, session ids in every path, relative
links that grow, soft 404s. Its offers stand in categories of several pages; some are linked from a
filtered list, some from a day of the calendar only.
"""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.crawler.server import Reply, Visit

FACETS = {"farbe": 5, "groesse": 5, "material": 5, "marke": 5, "preis": 5, "laune": 5}
ON_A_PAGE = 20
SESSION = re.compile(
    r"^(?:/s)?/(?:\(S\([a-z0-9]{24}\)\)|(?:sid-)?[0-9a-f]{24})(?=/)|;jsessionid=[0-9a-f]{24}"
)


@dataclass(frozen=True)
class TrapShop:
    """So many offers in so many categories; `hidden` of them stand only where the traps are."""

    offers: int = 500
    categories: int = 10
    hidden: int = 6
    session: str = "/(S({}))"

    def paths(self) -> set[str]:
        """The address of every offer."""
        return {_offer(number) for number in range(self.offers)}

    def answer(self, visit: Visit) -> Reply:
        """The page at a path; a soft 404 for every other path."""
        parts = urlsplit(visit.path)
        path, query = SESSION.sub("", parts.path), dict(parse_qsl(parts.query))
        if path in ("/robots.txt", "/sitemap.xml"):
            return 404, {}, b""
        session = self.session.format(
            hashlib.blake2b(visit.path.encode(), digest_size=12).hexdigest()
        )
        title, text, links = self._page(path, query)
        menu = [
            session + "/",
            "/events/2026/01",
            "help/info/",
            *(f"{session}/c/{n}" for n in range(self.categories)),
        ]
        anchors = " ".join(
            f'<a href="{link.replace("&", "&amp;")}">{link[-20:]}</a>' for link in [*menu, *links]
        )
        html = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>{anchors}</body></html>"
        return 200, {"Content-Type": "text/html; charset=utf-8"}, html.encode()

    def _page(self, path: str, query: dict[str, str]) -> tuple[str, str, list[str]]:
        numbers = [int(number) for number in re.findall(r"\d+", path)]
        if path == "/":
            return "Traps", "Welcome", []
        if re.fullmatch(r"/c/\d+", path) and numbers[0] < self.categories:
            return self._list(numbers[0], query)
        if re.fullmatch(r"/p/offer-\d+", path) and numbers[0] < self.offers:
            return (
                f"Offer {numbers[0]}",
                f"{numbers[0]},99 &euro; <button>add to cart</button>",
                [_offer(numbers[0] ^ 1)],
            )
        if re.fullmatch(r"/events/\d+/\d+", path):
            return self._month(*numbers)
        if path.endswith("/help/info/") or path == "/help/info/":
            return "Help", "We help", ["more/help/info/"]
        return "Sorry", "There is nothing here", []

    def _list(self, category: int, query: dict[str, str]) -> tuple[str, str, list[str]]:
        number = int(query.pop("page", "1"))
        shown = range(category, self.offers - self.hidden, self.categories)
        links = [_offer(offer) for offer in shown[(number - 1) * ON_A_PAGE : number * ON_A_PAGE]]
        path = f"/c/{category}"
        if number * ON_A_PAGE < len(shown):
            links.append(f"{path}?{urlencode({**query, 'page': number + 1})}")
        if query == {"farbe": "3"} and category < self.hidden // 2:
            links.append(_offer(self.offers - 1 - category))
        views = [
            {**query, name: value} for name, values in FACETS.items() for value in range(values)
        ]
        return (
            f"Category {category}",
            f"Filter: {query}",
            links + [f"{path}?{urlencode(view)}" for view in views],
        )

    def _month(self, year: int, month: int) -> tuple[str, str, list[str]]:
        after, before = (
            (year + month // 12, month % 12 + 1),
            (year - (month == 1), (month - 2) % 12 + 1),
        )
        links = [f"/events/{y}/{m:02}" for y, m in (after, before)]
        hidden = self.hidden - self.hidden // 2
        if year == 2026 and month <= hidden:
            links.append(_offer(self.offers - self.hidden // 2 - month))
        return f"Events {month}/{year}", f"Nothing on in {month}/{year}", links


def _offer(number: int) -> str:
    return f"/p/offer-{number}"
