"""Store of a large shop for benchmarks: generated offers, their pages and readings, and a finished run.

The offers have two currencies, 400 brands and 500 category paths; a tenth of the missing ones is
unsure, a few are ignored. Beside the large shop stand small ones with a finished run each.
"""

import random
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import insert, text
from sqlmodel import Session

from catalog.models import (
    Attribute,
    KnownOffer,
    Match,
    Page,
    PageKind,
    PageState,
    Review,
    ReviewDecision,
    Run,
    RunState,
    Shop,
    ShopOffer,
    Verdict,
)
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from reports.model.finding_storage import store_run_findings
from reports.statistics.coverage import Coverage

SHOP_NAME = "large"
HOME = "https://shop.example/"
CATEGORY_ROOT = "Lamp"
"""First step of a fourteenth of the categories."""
_TITLE_WORDS = (
    "lamp table chair shelf garden drill saw paint brush light oak black white green".split()
)
CATEGORIES = [
    f"{_TITLE_WORDS[number % 14].capitalize()} > {_TITLE_WORDS[number % 11]} > Shelf {number}"
    for number in range(500)
]
_EVIDENCE_KINDS = (
    "model numbers",
    "rare words",
    "identifiers",
    "image",
    "price",
    "variant",
    "quantities",
)
_IGNORED = 200  # findings with a review decision
_DESCRIPTION_WORDS = 60  # about 350 characters
_BATCH = 1000  # rows of one statement
_TIME = datetime(2026, 11, 2, 6, tzinfo=UTC)


def fill_store(settings: Settings, offers: int, missing: int, shops: int) -> None:
    """Fill an empty database with the large shop and small ones.

    It takes much memory: call it in a process of its own where memory is measured.
    """
    store = Store.open(settings)
    numbers = random.Random(0)
    with store.write() as session:
        shop_id, run_id = _add_shop(session, SHOP_NAME, HOME, offers)
        listed = offers - missing
        for start in range(0, offers, _BATCH):
            batch = range(start, min(start + _BATCH, offers))
            known = [_known_row(shop_id, number) for number in batch if number < listed]
            _insert(session, KnownOffer, known)
            values = [_offer_values(number, numbers) for number in batch]
            _insert(session, Page, [_page_row(shop_id, run_id, number) for number in batch])
            _insert(session, ShopOffer, [_parsed_row(shop_id, offer) for offer in values])
            matches = []
            for number, offer in zip(batch, values, strict=True):
                verdict = Verdict.LISTED if number < listed else Verdict.MISSING
                if verdict is Verdict.MISSING and numbers.random() < 0.1:
                    verdict = Verdict.UNSURE
                matches.append(_match_row(shop_id, run_id, offer, number, verdict, numbers))
            _insert(session, Match, matches)
        for number in range(listed, listed + _IGNORED):
            session.add(Review(shop_id=shop_id, url=_url(number), decision=ReviewDecision.IGNORE))
    for number in range(shops):
        _fill_small_shop(store, number, numbers)
    if store.engine.dialect.name == "postgresql":
        with store.write() as session:
            session.connection().execute(text("ANALYZE"))
    store.engine.dispose()


def _add_shop(session: Session, name: str, home: str, pages: int) -> tuple[int, int]:
    """Add a shop with a finished run; returns both ids."""
    shop = Shop(name=name, url=home)
    session.add(shop)
    session.flush()
    # Stored by the matching step of every run.
    coverage = Coverage(pages=pages, fetched=pages, known=pages).as_json()
    run = Run(
        shop_id=shop.id or 0,
        state=RunState.DONE,
        figures={"coverage": coverage},
        started_at=_TIME,
        finished_at=_TIME,
    )
    session.add(run)
    session.flush()
    return shop.id or 0, run.id or 0


def _fill_small_shop(store: Store, number: int, numbers: random.Random) -> None:
    with store.write() as session:
        shop_id, run_id = _add_shop(session, f"small-{number}", f"https://s{number}.example/", 3)
        for place, verdict in enumerate(Verdict):
            offer = _offer_values(place, numbers)
            row = _match_row(shop_id, run_id, offer, place, verdict, numbers)
            _insert(session, Match, [row])
        shop = session.get_one(Shop, shop_id)
    store_run_findings(store, shop, run_id, {})


def _insert(session: Session, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        session.connection().execute(insert(table), rows)


def _url(number: int) -> str:
    return f"{HOME}p/{number}"


def _known_row(shop_id: int, number: int) -> dict[str, Any]:
    return {
        "shop_id": shop_id,
        "ref": str(number),
        "link": _url(number),
        "url": _url(number),
        "title": f"Offer {number}",
        "price": Decimal(number % 900 + 5),
        "currency": "EUR",
        "category": CATEGORIES[number % 400],
        "brand": f"Brand {number % 300}",
        "images": [],
        "opaque": False,
        "imported_at": _TIME,
        "generation": 0,
    }


def _offer_values(number: int, numbers: random.Random) -> dict[str, Any]:
    title_words = " ".join(numbers.choices(_TITLE_WORDS, k=6))
    return {
        "url": _url(number),
        "title": f"{title_words} {number}",
        "description": " ".join(numbers.choices(_TITLE_WORDS, k=_DESCRIPTION_WORDS)),
        "price": f"{numbers.randrange(100, 99_999) / 100:.2f}",
        "currency": "USD" if numbers.random() < 0.2 else "EUR",
        "brand": f"Brand {numbers.randrange(400)}",
        "category": numbers.choice(CATEGORIES),
        "images": [f"{HOME}images/{number}.jpg"],
        "sku": f"S{number}",
    }


def _page_row(shop_id: int, run_id: int, number: int) -> dict[str, Any]:
    return {
        "id": number + 1,
        "shop_id": shop_id,
        "url": _url(number),
        "state": PageState.FETCHED,
        "kind": PageKind.OFFER,
        "read_reason": f"like template {number % 3}",
        "body": f"{number:040x}",
        "status": 200,
        "language": "en",
        "fetched_at": _TIME,
        "run_id": run_id,
    }


def _parsed_row(shop_id: int, offer: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a parsed offer, with readings as long as those of the parser."""
    readings = {}
    for attribute in Attribute:
        value = offer.get("images" if attribute is Attribute.IMAGE else attribute.value)
        if value is None:
            continue
        readings[attribute.value] = {
            "weight": 0.97,
            "votes": 4,
            "raw": f"{value} ",
            "rule": f"div.product-detail > div.info span.{attribute.value}-value",
        }
    page_id = int(offer["url"].rpartition("/")[2]) + 1
    price = Decimal(offer["price"])
    return offer | {
        "shop_id": shop_id,
        "page_id": page_id,
        "price": price,
        "variant": 0,
        "readings": readings,
    }


def _match_row(
    shop_id: int,
    run_id: int,
    offer: dict[str, Any],
    number: int,
    verdict: Verdict,
    numbers: random.Random,
) -> dict[str, Any]:
    url = offer["url"]
    nearest = {"title": f"{offer['title']} other", "url": f"{url}x", "price": "9.00"}
    return {
        "run_id": run_id,
        "shop_id": shop_id,
        "url": url,
        "urls": [url],
        "verdict": verdict.value,
        "score": 0.98 if verdict is Verdict.LISTED else numbers.random() / 2,
        "reasons": ["no equal identifier", "titles share two words", "prices differ"],
        "why": _explanation(number, verdict, numbers),
        "offer": offer,
        "nearest": nearest,
        "known_id": None,
        "variant_of": None,
    }


def _explanation(number: int, verdict: Verdict, numbers: random.Random) -> dict[str, Any]:
    """Return an explanation as long as those of the matcher."""
    evidence = []
    for kind in _EVIDENCE_KINDS:
        weight = round(numbers.gauss(-0.3, 0.6), 2)
        features = {f"{kind} {part}": round(numbers.random(), 3) for part in range(3)}
        speaks = "for" if weight > 0 else "against"
        evidence.append({"kind": kind, "speaks": speaks, "weight": weight, "features": features})
    candidates = []
    for rank in range(5):
        weights = {}
        # The candidates of listed offers are not explained.
        if verdict is not Verdict.LISTED:
            weights = {kind: round(numbers.gauss(-0.3, 0.6), 2) for kind in _EVIDENCE_KINDS}
        candidates.append(
            {
                "ref": str(number + rank),
                "title": " ".join(numbers.choices(_TITLE_WORDS, k=6)),
                "url": _url(number + rank),
                "score": round(numbers.random() / 2, 4),
                "weights": weights,
            }
        )
    return {"evidence": evidence, "settled": "other", "candidates": candidates}
