"""A run redoes what depends on a change and takes over all else, with the findings of a full run."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import pytest
from sqlmodel import col, select

from catalog.models import KnownOffer, Page, Review, ReviewDecision, Run, Shop, StoredRules
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.match import MatchResult, match_offers
from parser.parse_job import stored_rules
from reports.model.findings import list_findings
from scout.pipeline.shop_run import run_shop
from tests.crawler.server import Loopback, raw, serve

PAGES = 10
KNOWN = 7
PAGE = """<html><head><title>{title}</title><script type="application/ld+json">{data}</script></head>
<body><h1>{title}</h1><p class="price">{price} EUR</p><a href="/">all</a></body></html>"""
# Times and runs of a finding: when and by which run it was seen.
MOMENTS = frozenset(
    "fetched_at first_seen_at first_seen_run_id last_seen_at since since_at since_run_id match_id "
    "reviewed_at source stored_id".split()
)


def make_page(number: int, colour: str = "Blue") -> bytes:
    """Make the page of an offer."""
    title, price = f"{colour} mug number {number} with a handle", f"{number + 5}.90"
    data: dict[str, Any] = {"@type": "Product", "name": title, "sku": f"SKU-{number}"}
    data["offers"] = {"price": price, "priceCurrency": "EUR"}
    return PAGE.format(title=title, price=price, data=json.dumps(data)).encode()


@dataclass
class Bench:
    """A served shop with its store."""

    settings: Settings
    store: Store
    shop: Shop
    server: Loopback

    def run(self, *, full: bool = False, settings: Settings | None = None) -> Run:
        """Run the shop."""
        summary = run_shop(settings or self.settings, self.store, self.shop, full=full)
        with self.store.read() as session:
            return session.get_one(Run, summary.run)

    def findings(self, run: Run) -> list[dict[str, Any]]:
        """Return the findings of a run, without the times at which they were seen."""
        found = []
        for finding in list_findings(self.store, self.shop, run.id or 0):
            names = {field.name for field in fields(finding)} - MOMENTS
            found.append({name: getattr(finding, name) for name in names})
        return found


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, module_database: str) -> Iterator[Bench]:
    """A shop of ten offers, of which the catalog lists seven, run once; the tests change it."""
    folder = tmp_path_factory.mktemp("changes")
    settings = Settings.load(data_dir=folder, database_url=module_database)
    store = Store.open(settings)
    with serve() as server:
        links = "".join(f'<a href="/p/{n}">{n}</a>' for n in range(PAGES))
        server.routes["/"] = raw(f"<html><title>Mugs</title>{links}</html>".encode())
        for number in range(PAGES):
            server.routes[f"/p/{number}"] = raw(make_page(number))
        with store.write() as session:
            shop = Shop(name="mugs", url=server.url, allow_private=True)
            session.add(shop)
            session.flush()
            for n in range(KNOWN):
                known = {"title": f"Blue mug number {n} with a handle", "sku": f"SKU-{n}"}
                url = f"{server.url}p/{n}"
                session.add(KnownOffer(shop_id=shop.id or 0, ref=str(n), url=url, **known))
        made = Bench(settings, store, shop, server)
        made.run()
        yield made


def _change_page(bench: Bench) -> None:
    bench.server.routes["/p/8"] = raw(make_page(8, "Red"))


def _change_catalog(bench: Bench) -> None:
    with bench.store.write() as session:
        offer = session.exec(select(KnownOffer).where(KnownOffer.ref == "3")).one()
        session.delete(offer)


def _decide(bench: Bench) -> None:
    with bench.store.write() as session:
        url = f"{bench.server.url}p/9"
        review = Review(shop_id=bench.shop.id or 0, url=url, decision=ReviewDecision.REJECT)
        session.add(review)


def _set_rule(bench: Bench) -> None:
    rules = stored_rules(bench.store, bench.shop)
    changed = rules.model_copy(update={"version": 99, "currency": "CHF"})
    with bench.store.write() as session:
        stored = changed.to_json()
        session.add(StoredRules(shop_id=bench.shop.id or 0, version=99, rules=stored))


# By change: whether it is learnt, how many pages are read, whether offers are matched. None: not
# determined, as rules learnt from one more or less example may be the same or not.
CHANGES: dict[str, tuple[Callable[[Bench], None], bool, int | None, bool]] = {
    "nothing": (lambda bench: None, False, 0, False),
    "a page": (_change_page, True, None, True),
    "a row of the catalog": (_change_catalog, True, None, True),
    "a decision": (_decide, False, 0, True),
    "rules set by hand": (_set_rule, True, None, False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_redoes_what_depends_on_it(
    bench: Bench, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run after a change has the findings of a full run, and takes over what it can."""
    make_change, is_learnt, pages, is_matched = CHANGES[change]
    make_change(bench)
    before = stored_rules(bench.store, bench.shop).version
    matched: list[int] = []

    def count(*arguments: Any, **options: Any) -> list[MatchResult]:
        matched.append(1)
        return match_offers(*arguments, **options)

    monkeypatch.setattr("matcher.match.match_offers", count)
    second = bench.run()
    assert (stored_rules(bench.store, bench.shop).version > before) == is_learnt
    if pages is not None:
        assert second.figures["parse"]["pages"] == pages
    assert bool(matched) == is_matched
    full = bench.run(full=True)
    assert full.figures["parse"]["pages"] == PAGES + 1
    assert bench.findings(second) == bench.findings(full)


def test_a_setting_redoes_what_depends_on_it(bench: Bench) -> None:
    """With another threshold all pages are read again; with the former one, too."""
    strict = bench.settings.model_copy(update={"confidence": {"title": 0.2}})
    assert bench.run(settings=strict).figures["parse"]["pages"] == PAGES + 1
    assert bench.run(settings=strict).figures["parse"]["pages"] == 0
    with bench.store.read() as session:
        unread = select(Page).where(col(Page.read_key).is_(None))
        assert session.exec(unread).first() is None
