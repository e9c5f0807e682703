"""A shop's links at their import: without its own tracking keys, with the user's lists, followed on
request only.
"""

import json
import sys
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.errors import ConfigError
from catalog.feeds.importing import import_offers
from catalog.links.shop_links import load_configured_lists, make_cleaner
from catalog.models import KnownOffer, Page, PageState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from url_cleaner import resolver
from url_cleaner.resolver import RedirectResponse, resolve_url


def _learnt(store: Store, shop: Shop) -> None:
    """Pages that are the same with and without `wkz`, and others with every `farbe`."""
    with store.write() as session:
        for name in "abcd":
            for query, body in (("", name), ("?wkz=7", name), ("?farbe=rot", f"{name} rot")):
                url = f"{shop.url}{name}{query}"
                session.add(Page(shop_id=shop.id or 0, url=url, state=PageState.FETCHED, body=body))


def _imported(store: Store) -> dict[str, tuple[str | None, bool]]:
    with store.read() as session:
        return {offer.ref: (offer.url, offer.opaque) for offer in session.exec(select(KnownOffer))}


def test_own_keys_at_import(settings: Settings, store: Store, shop: Shop, tmp_path: Path) -> None:
    """Keys that crawled pages have shown to track are taken off the catalog's links; variants
    stay.
    """
    _learnt(store, shop)
    feed = tmp_path / "feed.jsonl"
    rows = [{"id": "1", "title": "A", "link": f"{shop.url}x?wkz=9&farbe=blau&utm_source=y"}]
    feed.write_text("\n".join(map(json.dumps, rows)))
    import_offers(store, shop, str(feed), cleaner=make_cleaner(settings, store, shop))
    assert _imported(store) == {"1": (f"{shop.url}x?farbe=blau", False)}


def test_followed_on_request(
    settings: Settings, store: Store, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An opaque link is asked for once, and only with `follow`; where it leads is cleaned like any
    other.
    """
    asked: list[str] = []

    def ask(link: str, *, allow_private: bool = False) -> RedirectResponse:
        asked.append(link)
        return (
            RedirectResponse(302, f"{shop.url}p/1?utm_source=x&size=4")
            if link.endswith("1")
            else RedirectResponse(404, None, "answers 404")
        )

    monkeypatch.setattr(resolver, "request_redirect", ask)
    feed = tmp_path / "feed.jsonl"
    rows = [{"id": str(n), "title": "A", "link": f"https://bit.ly/{n}"} for n in (1, 2)]
    rows.append({"id": "3", "title": "B", "link": f"{shop.url}p/3?gclid=1"})
    feed.write_text("\n".join(map(json.dumps, rows)))
    import_offers(store, shop, str(feed), cleaner=make_cleaner(settings, store, shop))
    assert (asked, _imported(store)["1"]) == ([], (None, True))
    import_offers(store, shop, str(feed), cleaner=make_cleaner(settings, store, shop, follow=True))
    assert asked == ["https://bit.ly/1", "https://bit.ly/2"]
    assert _imported(store) == {
        "1": (f"{shop.url}p/1?size=4", False),
        "2": (None, True),
        "3": (f"{shop.url}p/3", False),
    }


def test_followed_no_further() -> None:
    """A private address is not asked, and a link that nobody can read is left as it is."""
    for link in ("https://bit.ly@127.0.0.1:1/x", "http://127.0.0.1:1/redirect/1"):
        assert resolve_url(link, home="http://127.0.0.1:1/") is not None
    assert resolve_url("http://127.0.0.1:1/redirect/1", home="http://127.0.0.1:1/").opaque


def test_lists_of_the_settings(
    settings: Settings, store: Store, shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists that the settings name are used; one that cannot be read is named, as is the missing
    extra.
    """
    assert load_configured_lists(settings) is None
    file = tmp_path / "list.json"
    file.write_text(json.dumps([{"include": ["*://*/*"], "params": ["xx"]}]))
    named = settings.model_copy(update={"link_lists": [file]})
    assert make_cleaner(named, store, shop)(f"{shop.url}p?xx=1&a=2").url == f"{shop.url}p?a=2"
    for content in ("{}", "[7]"):
        file.write_text(content)
        with pytest.raises(ConfigError, match=r"list\.json is no list"):
            load_configured_lists(named)
    file.write_text(json.dumps([{"include": ["*://*/*"], "params": ["yy"]}]))
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ConfigError, match=r"scout-offer-gaps\[lists\]"):
        load_configured_lists(named)
