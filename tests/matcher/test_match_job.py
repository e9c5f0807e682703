"""The matching step of a run: stored offers in, stored matches out, completely or not at all."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import select

from catalog.models import (
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageState,
    Review,
    ReviewDecision,
    Run,
    Shop,
    ShopOffer,
    Verdict,
    utc_now,
)
from catalog.runtime.settings import Settings
from catalog.runtime.spark.session import SparkJobs
from catalog.storage.store import Store
from matcher.config import MatcherConfig
from matcher.match import MatchResult, match_offers
from matcher.match_job import MatchSummary, match_shop
from matcher.shop_side import resolve_offer_urls


@pytest.fixture
def run(store: Store, shop: Shop, lamps: list[OfferFields]) -> Run:
    """A run of a shop with thirty-six lamps, of which the catalog lists thirty."""
    with store.write() as session:
        run = Run(shop_id=shop.id, started_at=utc_now() - timedelta(minutes=1))
        session.add(run)
        for n, lamp in enumerate(lamps):
            page = Page(shop_id=shop.id, url=lamp.url, state=PageState.FETCHED)
            session.add(page)
            session.flush()
            session.add(ShopOffer(shop_id=shop.id, page_id=page.id, **lamp.model_dump()))
            if n >= 6:
                session.add(KnownOffer(shop_id=shop.id, ref=str(n), **lamp.model_dump()))
    return run


def stored(store: Store, run: Run) -> list[Match]:
    with store.read() as session:
        return list(session.exec(select(Match).where(Match.run_id == run.id)))


def test_writes_every_offer_once(settings: Settings, store: Store, shop: Shop, run: Run) -> None:
    """Every offer has one row with its catalog offer's fields and reasons, also after two runs."""
    for _ in range(2):
        summary = match_shop(settings, store, shop, run.id)
        assert (summary.offers, summary.listed, summary.missing, summary.unsure) == (36, 30, 6, 0)
    rows = stored(store, run)
    assert len(rows) == 36
    listed = next(row for row in rows if row.verdict == Verdict.LISTED)
    assert listed.offer["price"] == listed.nearest["price"]
    assert OfferFields.model_validate(listed.offer).url == listed.url
    assert listed.known_id
    assert "the catalog's link leads to this page" in listed.reasons
    assert listed.why["settled"] == "link"
    assert listed.why["candidates"][0]["title"] == listed.nearest["title"]
    assert {len(row.why["candidates"]) for row in rows} == {5}
    best, *_, last = listed.why["candidates"]
    assert sum(best["weights"].values()) > sum(last["weights"].values())


def test_spark_stores_the_same_matches(
    settings: Settings, store: Store, shop: Shop, run: Run, spark_jobs: SparkJobs
) -> None:
    """On Spark candidates are searched and compared with the same verdicts, scores and reasons."""
    columns = ("url", "known_id", "verdict", "score", "reasons", "offer", "nearest", "why")
    matches = []
    for jobs in (None, spark_jobs):
        match_shop(settings, store, shop, run.id, anew=True, jobs=jobs)
        rows = stored(store, run)
        matches.append([[getattr(row, column) for column in columns] for row in rows])
    assert matches[0] == matches[1]
    assert len(matches[0]) == 36


def _change_page_offer(store: Store, shop: Shop) -> None:
    with store.write() as session:
        offer = session.exec(select(ShopOffer)).first()
        assert offer is not None
        offer.title = "Another lamp"


def _change_known_offer(store: Store, shop: Shop) -> None:
    with store.write() as session:
        offer = session.exec(select(KnownOffer)).first()
        assert offer is not None
        offer.sku = "another"


def _decide(decision: ReviewDecision) -> Callable[[Store, Shop], None]:
    def decide(store: Store, shop: Shop) -> None:
        with store.write() as session:
            url = session.exec(select(ShopOffer.url)).first()
            session.add(Review(shop_id=shop.id or 0, url=url or "", decision=decision))

    return decide


CHANGES: dict[str, tuple[Callable[[Store, Shop], None], bool]] = {
    "nothing": (lambda store, shop: None, False),
    "an ignored offer": (_decide(ReviewDecision.IGNORE), False),
    "a decision": (_decide(ReviewDecision.REJECT), True),
    "an offer of the shop": (_change_page_offer, True),
    "an offer of the catalog": (_change_known_offer, True),
}


@pytest.mark.parametrize("change", CHANGES)
def test_matches_are_taken_over_unless_something_has_changed(
    settings: Settings,
    store: Store,
    shop: Shop,
    run: Run,
    change: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next run copies the matches, which are those that it would compute."""
    match_shop(settings, store, shop, run.id)
    make_change, is_computed = CHANGES[change]
    make_change(store, shop)
    with store.write() as session:
        second, third = Run(shop_id=shop.id), Run(shop_id=shop.id)
        session.add_all([second, third])
    calls = []

    def count_calls(*arguments: Any, **options: Any) -> list[MatchResult]:
        calls.append(arguments)
        return match_offers(*arguments, **options)

    monkeypatch.setattr("matcher.match.match_offers", count_calls)
    taken_over = match_shop(settings, store, shop, second.id)
    assert bool(calls) == is_computed
    computed = match_shop(settings, store, shop, third.id, anew=True)
    assert replace(taken_over, seconds=0) == replace(computed, seconds=0)
    columns = {"id", "run_id"}
    assert [row.model_dump(exclude=columns) for row in stored(store, second)] == [
        row.model_dump(exclude=columns) for row in stored(store, third)
    ]


def test_a_matching_repeated_in_one_run_keeps_its_matches(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """A run that was killed after its matches were stored finds them."""
    first = match_shop(settings, store, shop, run.id)
    assert match_shop(settings, store, shop, run.id).missing == first.missing
    assert len(stored(store, run)) == 36


def test_one_row_for_an_offer_on_several_pages(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """A page that names another as canonical adds a URL, not an offer; a gone page nothing."""
    with store.write() as session:
        first = session.exec(select(ShopOffer)).first()
        for path, state in (("/sale/x", PageState.FETCHED), ("/old/x", PageState.GONE)):
            page = Page(shop_id=shop.id, url=f"https://shop.example{path}", state=state)
            session.add(page)
            session.flush()
            fields = OfferFields(
                **{name: getattr(first, name) for name in OfferFields.model_fields}
            )
            session.add(ShopOffer(shop_id=shop.id, page_id=page.id, **fields.model_dump()))
    assert match_shop(settings, store, shop, run.id).offers == 36
    assert [row.urls for row in stored(store, run) if len(row.urls) > 1] == [
        [first.url, "https://shop.example/sale/x"]
    ]


def test_a_redirected_link_is_a_link_to_the_offer(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """A catalog offer whose link redirects to a page is listed by it, under any title."""
    with store.write() as session:
        offer = session.exec(select(ShopOffer)).first()
        old = "https://shop.example/old/link"
        session.add(Page(shop_id=shop.id, url=old, state=PageState.REDIRECTED, canonical=offer.url))
        session.add(KnownOffer(shop_id=shop.id, ref="old", url=old, title="Quite another name"))
    assert match_shop(settings, store, shop, run.id).missing == 5


def test_a_review_moves_along_with_its_page(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """The review of an address that redirects, even twice, holds for the offer at its end."""
    oldest, old = "https://shop.example/oldest", "https://shop.example/older"
    with store.write() as session:
        new = session.exec(select(ShopOffer)).first().url
        for url, target in ((oldest, old), (old, new)):
            session.add(
                Page(shop_id=shop.id, url=url, state=PageState.REDIRECTED, canonical=target)
            )
        session.add(Review(shop_id=shop.id, url=oldest, decision=ReviewDecision.REJECT))
    assert match_shop(settings, store, shop, run.id).missing == 5
    assert [row.urls for row in stored(store, run) if row.url == new] == [[new, old, oldest]]


def test_reviews_change_the_verdicts(
    settings: Settings, store: Store, shop: Shop, run: Run, lamps: list[OfferFields]
) -> None:
    """The reviews of the store change the verdicts."""
    with store.write() as session:
        for lamp, review in zip(
            lamps,
            (ReviewDecision.REJECT, ReviewDecision.IGNORE, ReviewDecision.ACCEPT),
            strict=False,
        ):
            session.add(Review(shop_id=shop.id, url=lamp.url, decision=review))
    summary = match_shop(settings, store, shop, run.id)
    assert (summary.offers, summary.listed, summary.missing, summary.ignored) == (35, 31, 4, 1)
    assert len(stored(store, run)) == 36


def test_progress_counts_offers_and_not_pages(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """Several pages may show one offer: the offers matched are those of the result."""
    messages: list[tuple[int, int | None]] = []

    def progress(label: str, done: int, total: int | None = None, **also: int) -> None:
        assert label == "offers matched"
        messages.append((done, total))

    summary = match_shop(settings, store, shop, run.id, progress=progress)
    assert messages == [(0, None), (summary.offers, summary.offers)]


def test_an_empty_shop(settings: Settings, store: Store, shop: Shop) -> None:
    """A shop without crawled and catalog offers gets an empty summary, and no error."""
    with store.write() as session:
        empty = Run(shop_id=shop.id)
        session.add(empty)
    summary = match_shop(settings, store, shop, empty.id)
    assert summary == MatchSummary(0, 0, 0, 0, summary.seconds)


@pytest.mark.parametrize(("given", "used"), [(None, 0.9), (0.999, 0.999)])
def test_the_precision_is_a_setting(
    settings: Settings,
    store: Store,
    shop: Shop,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    given: float | None,
    used: float,
) -> None:
    """Verdicts are held to the precision of the settings unless one is given."""
    precisions: list[float] = []

    def record_precision(*_: object, config: MatcherConfig, **__: object) -> list[MatchResult]:
        precisions.append(config.precision)
        return []

    monkeypatch.setattr("matcher.match.match_offers", record_precision)
    match_shop(settings.model_copy(update={"precision": 0.9}), store, shop, run.id, precision=given)
    assert precisions == [used]


@pytest.mark.parametrize(
    ("fields", "paths", "is_kept"),
    [
        ([{"title": "Red lamp"}, {"title": "Garden chair"}], ("/p/1", "/p/2"), False),
        ([{"title": "Lamp red"}, {"title": "Lamp blue"}], ("/p/1", "/p/2"), True),
        ([{"title": "Red lamp"}, {"title": "Garden chair"}], ("/lamps?id=1", "/lamps?id=2"), False),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp blue", "sku": "2"}],
            ("/p/1", "/p/2"),
            False,
        ),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp blue", "sku": "2"}],
            ("/lamps", "/p/2"),
            True,
        ),
        (
            [{"title": "Lamp red", "sku": "1"}, {"title": "Lamp", "sku": "2"}],
            ("/lamps?variant=1", "/lamps?a=b"),
            True,
        ),
        (
            [{"title": "Lamp", "ean": "1", "sku": "1"}, {"title": "Lamp", "ean": "1"}],
            ("/a/lamp", "/b/lamp"),
            True,
        ),
    ],
    ids=[
        "unrelated titles",
        "similar titles",
        "unrelated by query",
        "different SKUs",
        "one is the canonical page",
        "variants by query",
        "one offer",
    ],
)
def test_a_canonical_link_that_pages_share(
    fields: list[dict[str, str]], paths: tuple[str, str], is_kept: bool
) -> None:
    """Different offers of one canonical address get their pages back; variants keep it."""
    canonical = "https://shop.example/lamps"
    offers = [OfferFields(url=canonical, **values) for values in fields]
    pages = [f"https://shop.example{path}" for path in paths]
    expected = [canonical, canonical] if is_kept else pages
    assert [offer.url for offer in resolve_offer_urls(offers, pages)] == expected


CANONICAL = "https://shop.example/p/chair"
GARDEN = "https://shop.example/garden"  # a category, named as canonical by its offers
# Pages of a shop: URL and changes of its offer. Seven of them show one chair.
SHUFFLED_PAGES: list[tuple[str, dict[str, Any]]] = [
    (CANONICAL, {}),
    ("https://shop.example/sale/p/chair", {}),
    ("https://shop.example/p/chair?ref=b", {}),
    ("https://shop.example/p/chair?ref=a", {}),
    ("https://shop.example/new/p/chair", {"title": "Garden chair oak (new)"}),
    ("https://shop.example/a/garden-chair", {"url": "https://shop.example/a/garden-chair"}),
    ("https://shop.example/b/garden-chair", {"url": "https://shop.example/b/garden-chair"}),
    ("https://shop.example/p/bench", {"url": GARDEN, "title": "Stone bench", "sku": "BE-1"}),
    ("https://shop.example/p/pump", {"url": GARDEN, "title": "Well pump", "sku": "PU-1"}),
]
COMPARED_COLUMNS = ("url", "urls", "verdict", "score", "reasons", "offer", "nearest", "why")
REDIRECTS = [f"https://shop.example/{path}" for path in ("old/chair", "c", "d", "older/chair")]


def _store_shop(store: Store, name: str, lamps: list[OfferFields], seed: int) -> tuple[Shop, Run]:
    """Store a shop with its rows in a random order, fetched at random times."""
    generator = random.Random(seed)
    chair: dict[str, Any] = {
        "url": CANONICAL,
        "title": "Garden chair oak",
        "price": 60,
        "sku": "CH-1",
        "images": ["https://cdn.example/pictures/chair.jpg"],
        "description": "A chair for the garden, made of oak, which can stay outside all year.",
    }
    pages = [(lamp.url or "", lamp) for lamp in lamps]
    pages += [(url, OfferFields.model_validate(chair | other)) for url, other in SHUFFLED_PAGES]
    known = [(f"ref {number}", lamp) for number, lamp in enumerate(lamps[6:])]
    # Two rows of the catalog with the same content.
    known += [("twin 2", lamps[6]), ("twin 1", lamps[6])]
    redirects = list(REDIRECTS)
    for rows in (pages, known, redirects):
        generator.shuffle(rows)
    with store.write() as session:
        shop = Shop(name=name, url="https://shop.example/")
        session.add(shop)
        session.flush()
        run = Run(shop_id=shop.id)
        session.add(run)
        for url in redirects:
            session.add(
                Page(shop_id=shop.id, url=url, state=PageState.REDIRECTED, canonical=CANONICAL)
            )
        for url, fields in pages:
            fetched_at = utc_now() - timedelta(seconds=generator.randrange(100_000))
            page = Page(shop_id=shop.id, url=url, state=PageState.FETCHED, fetched_at=fetched_at)
            session.add(page)
            session.flush()
            session.add(ShopOffer(shop_id=shop.id, page_id=page.id, **fields.model_dump()))
        for ref, fields in known:
            session.add(KnownOffer(shop_id=shop.id, ref=ref, **fields.model_dump()))
    return shop, run


def _comparable(store: Store, run: Run) -> list[dict[str, Any]]:
    """Return the rows of a run without their ids; the known offer by its key."""
    rows = []
    with store.read() as session:
        refs = {offer.id: offer.ref for offer in session.exec(select(KnownOffer))}
    for row in stored(store, run):
        content = {name: getattr(row, name) for name in COMPARED_COLUMNS}
        rows.append(content | {"known": refs.get(row.known_id)})
    return rows


def test_the_result_does_not_depend_on_the_order_of_the_crawl(
    settings: Settings, store: Store, lamps: list[OfferFields]
) -> None:
    """Shops with equal pages, fetched in another order, get equal rows: URLs, reasons and all."""
    results = []
    for seed in range(4):
        shop, run = _store_shop(store, f"shop {seed}", lamps, seed)
        match_shop(settings, store, shop, run.id)
        results.append(_comparable(store, run))
    assert results[1:] == results[:1] * 3
    chair = next(row for row in results[0] if row["url"] == CANONICAL)
    assert chair["offer"]["title"] == "Garden chair oak"
    assert set(REDIRECTS) < set(chair["urls"])
    urls = {row["url"] for row in results[0]}
    assert {"https://shop.example/p/bench", "https://shop.example/p/pump"} < urls


def test_a_url_that_two_offers_name_goes_to_the_offer_of_its_page(
    settings: Settings, store: Store, shop: Shop, run: Run, lamps: list[OfferFields]
) -> None:
    """Where two known offers share a canonical URL, a shorter page that names it does not take it."""
    shared, short = lamps[10].url, "https://shop.example/l"
    with store.write() as session:
        page = Page(shop_id=shop.id, url=short, state=PageState.FETCHED)
        session.add(page)
        session.flush()
        other = lamps[10].model_copy(update={"title": "Lumo desk lamp 100 white", "sku": "W"})
        session.add(ShopOffer(shop_id=shop.id, page_id=page.id, **other.model_dump()))
        known = other.model_copy(update={"url": short})
        session.add(KnownOffer(shop_id=shop.id, ref="white", **known.model_dump()))
    match_shop(settings, store, shop, run.id)
    titles = {row.url: row.offer["title"] for row in stored(store, run)}
    assert titles[shared] == lamps[10].title
    assert titles[short] == other.title


def test_pages_in_other_languages_are_one_offer(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """Stored hreflang links join pages; the page in the catalog's language stands for the offer."""
    with store.write() as session:
        first, second = session.exec(select(ShopOffer).order_by(ShopOffer.id).limit(2))
        urls = {}
        for number, offer in enumerate((first, second)):
            german = session.get(Page, offer.page_id)
            english_url = f"https://shop.example/en/thing-{number}"
            english = Page(shop_id=shop.id, url=english_url, state=PageState.FETCHED, language="en")
            german.language = "de"
            # One page names its version itself, of the other the sitemap does.
            versions = {"de": german.url, "en": english_url}
            if number:
                german.sitemap_alternates = english.sitemap_alternates = versions
            else:
                german.alternates = english.alternates = versions
            session.add_all((german, english))
            session.flush()
            fields = {"title": f"Another name {number}", "url": english_url, "price": "9.99"}
            session.add(ShopOffer(shop_id=shop.id, page_id=english.id, **fields))
            urls[german.url] = [german.url, english_url]
    summary = match_shop(settings, store, shop, run.id)
    assert (summary.offers, summary.listed, summary.missing) == (36, 30, 6)
    assert {row.url: row.urls for row in stored(store, run) if len(row.urls) > 1} == urls
