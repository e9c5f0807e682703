"""The step of a run: from stored offers to stored matches, whole or not at all."""

from datetime import timedelta

import pytest
from sqlmodel import select

from catalog.errors import UsageError
from catalog.models import (
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageState,
    PersonsWord,
    Run,
    Shop,
    ShopOffer,
    Verdict,
    Word,
    now,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.match_job import Matched, match_shop


@pytest.fixture
def run(store: Store, shop: Shop, lamps: list[OfferFields]) -> Run:
    """A run of a shop with thirty-six lamps, of which the catalog lists thirty."""
    with store.write() as session:
        run = Run(shop_id=shop.id, started_at=now() - timedelta(minutes=1))
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
    """Every offer has one row with its fields, its known offer's and the reasons; done twice, nothing is doubled."""
    for _ in range(2):
        figures = match_shop(settings, store, shop, run.id)
        assert (figures.offers, figures.listed, figures.missing, figures.unsure) == (36, 30, 6, 0)
    rows = stored(store, run)
    assert len(rows) == 36
    listed = next(row for row in rows if row.verdict == Verdict.LISTED)
    assert listed.offer["price"] == listed.nearest["price"]
    assert OfferFields.model_validate(listed.offer).url == listed.url
    assert listed.known_id
    assert "the catalog's link leads to this page" in listed.reasons
    assert listed.why["settled"] == "link"
    assert listed.why["candidates"][0]["title"] == listed.nearest["title"]


def test_one_row_for_an_offer_on_several_pages(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """A page that names another as canonical adds a URL, not an offer; a page that is gone adds nothing."""
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
    """A known offer whose link redirects to a page is listed by that page, whatever its title has become."""
    with store.write() as session:
        offer = session.exec(select(ShopOffer)).first()
        old = "https://shop.example/old/link"
        session.add(Page(shop_id=shop.id, url=old, state=PageState.REDIRECTED, canonical=offer.url))
        session.add(KnownOffer(shop_id=shop.id, ref="old", url=old, title="Quite another name"))
    assert match_shop(settings, store, shop, run.id).missing == 5


def test_a_word_moves_along_with_its_page(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """What was said of an address that redirects, in two steps even, holds for the offer that it leads to."""
    oldest, old = "https://shop.example/oldest", "https://shop.example/older"
    with store.write() as session:
        new = session.exec(select(ShopOffer)).first().url
        for url, target in ((oldest, old), (old, new)):
            session.add(
                Page(shop_id=shop.id, url=url, state=PageState.REDIRECTED, canonical=target)
            )
        session.add(PersonsWord(shop_id=shop.id, url=oldest, word=Word.REJECT))
    assert match_shop(settings, store, shop, run.id).missing == 5
    assert [row.urls for row in stored(store, run) if row.url == new] == [[new, oldest, old]]


def test_words_are_heard(
    settings: Settings, store: Store, shop: Shop, run: Run, lamps: list[OfferFields]
) -> None:
    """Persons' words of the store change the verdicts."""
    with store.write() as session:
        for lamp, word in zip(lamps, (Word.REJECT, Word.IGNORE, Word.ACCEPT), strict=False):
            session.add(PersonsWord(shop_id=shop.id, url=lamp.url, word=word))
    figures = match_shop(settings, store, shop, run.id)
    assert (figures.offers, figures.listed, figures.missing) == (35, 31, 4)


def test_an_empty_shop(settings: Settings, store: Store, shop: Shop) -> None:
    """Nothing crawled, nothing known: nothing is said and nothing fails."""
    with store.write() as session:
        empty = Run(shop_id=shop.id)
        session.add(empty)
    figures = match_shop(settings, store, shop, empty.id)
    assert figures == Matched(0, 0, 0, 0, figures.seconds)


def test_an_engine_that_is_not_there(
    settings: Settings, store: Store, shop: Shop, run: Run
) -> None:
    """An unknown engine is named, and nothing is written."""
    with pytest.raises(UsageError, match="no matching engine is called 'abacus'"):
        match_shop(settings, store, shop, run.id, engine="abacus")
    assert stored(store, run) == []


@pytest.mark.parametrize(("given", "held"), [(None, 0.9), (0.999, 0.999)])
def test_a_wanted_precision_is_a_setting(
    settings: Settings,
    store: Store,
    shop: Shop,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    given: float | None,
    held: float,
) -> None:
    """Verdicts are held to the precision of the settings, where none is given."""
    asked: list[float] = []
    monkeypatch.setattr(
        "matcher.match_job.match", lambda *_, precision, **__: asked.append(precision) or []
    )
    match_shop(settings.model_copy(update={"precision": 0.9}), store, shop, run.id, precision=given)
    assert asked == [held]
