"""A store filled by hand: a builder that adds runs, findings, catalog offers, pages and bad rows in one line each."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from catalog.models import (
    BadRow,
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageKind,
    PageState,
    PersonsWord,
    Run,
    RunState,
    Shop,
    Verdict,
    Word,
)
from catalog.storage.store import Store

START = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)


@dataclass
class Filler:
    """Adds rows to the store of one shop; `save` writes what has been added since."""

    store: Store
    shop: Shop
    rows: list[Any] = field(default_factory=list)
    runs: int = 0
    known_ids: int = 0

    def run(self, state: RunState = RunState.DONE, **fields: Any) -> int:
        """A run, a week after the one before; gives its id."""
        self.runs += 1
        at = START + timedelta(weeks=self.runs)
        made = Run(
            id=self.runs, shop_id=self.shop.id, state=state, started_at=at, finished_at=at, **fields
        )
        with self.store.write() as session:
            session.add(made)
        return self.runs

    def known(self, path: str | None, **fields: Any) -> int:
        """An offer of the catalog; gives its id."""
        self.known_ids += 1
        link = None if path is None else self.url(path)
        extra = {"ref": f"k{self.known_ids}", "link": link, "opaque": False} | fields
        self.rows.append(
            KnownOffer(id=self.known_ids, shop_id=self.shop.id, url=link, **self.priced(extra))
        )
        return self.known_ids

    def found(
        self, run: int, path: str, verdict: Verdict | str = Verdict.MISSING, **fields: Any
    ) -> str:
        """A finding of the run, with its offer's fields; gives its URL."""
        names = ("known_id", "score", "reasons", "urls", "why", "variant_of")
        of_match = {name: fields.pop(name) for name in names if name in fields}
        near = fields.pop("nearest", None)
        url = self.url(path)
        offer = OfferFields(
            **{"url": url, "title": f"Offer {path}", "currency": "EUR"} | self.priced(fields)
        )
        made = Match(
            run_id=run,
            shop_id=self.shop.id,
            url=url,
            verdict=Verdict(verdict),
            offer=offer.model_dump(mode="json"),
            nearest=None
            if near is None
            else OfferFields(**self.priced(near)).model_dump(mode="json"),
            **{"urls": [url], "score": 0.2} | of_match,
        )
        self.rows.append(made)
        return url

    def listed(self, run: int, path: str, **fields: Any) -> str:
        """A finding that the catalog lists, with the catalog offer it was paired with; both say the same."""
        kept = {
            name: value
            for name, value in fields.items()
            if name not in ("availability", "nearest", "variant_of")
        }
        known = self.known(path, **{"title": f"Offer {path}", "currency": "EUR"} | kept)
        near = (
            {"url": self.url(path), "title": f"Offer {path}", "currency": "EUR"}
            | kept
            | fields.pop("nearest", {})
        )
        return self.found(
            run, path, Verdict.LISTED, known_id=known, score=0.98, nearest=near, **fields
        )

    def page(self, path: str, state: PageState = PageState.FETCHED, **fields: Any) -> None:
        """A page of the shop; an offer page if fetched, unless said otherwise."""
        extra = {"kind": PageKind.OFFER if state is PageState.FETCHED else None} | fields
        self.rows.append(Page(shop_id=self.shop.id, url=self.url(path), state=state, **extra))

    def bad(self, raw: str, reason: str = "price is missing", line: int = 7) -> None:
        """A row of the feed that was rejected."""
        self.rows.append(
            BadRow(
                shop_id=self.shop.id, source="/feeds/offers.csv", line=line, reason=reason, raw=raw
            )
        )

    def word(self, path: str, word: Word, note: str | None = None) -> None:
        """A person's word."""
        self.rows.append(
            PersonsWord(shop_id=self.shop.id, url=self.url(path), word=word, note=note)
        )

    def save(self) -> None:
        """Write what has been added."""
        with self.store.write() as session:
            session.add_all(self.rows)
        self.rows = []

    def url(self, path: str) -> str:
        """The full address of a path."""
        return path if "://" in path else f"{self.shop.url.rstrip('/')}/{path}"

    @staticmethod
    def priced(fields: dict[str, Any]) -> dict[str, Any]:
        """The fields with the price as an amount."""
        return fields | (
            {"price": Decimal(str(fields["price"]))} if fields.get("price") is not None else {}
        )


@pytest.fixture
def fill(store: Store, shop: Shop) -> Filler:
    """A filler of the shop's store."""
    return Filler(store, shop)
