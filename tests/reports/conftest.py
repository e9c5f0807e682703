"""Builder of a shop's store: adds runs, findings, catalog offers, pages and rejected rows in one line each."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import func, select

from catalog.models import (
    BadRow,
    KnownOffer,
    Match,
    OfferFields,
    Page,
    PageKind,
    PageState,
    Review,
    ReviewDecision,
    Run,
    RunState,
    Shop,
    Verdict,
)
from catalog.storage.store import Store

START = datetime(2026, 11, 2, 6, 0, tzinfo=UTC)


@dataclass
class StoreBuilder:
    """Rows of one shop's store; `save` writes those added since the last call."""

    store: Store
    shop: Shop
    rows: list[Any] = field(default_factory=list)
    runs: int = 0
    catalog_ids: int = 0

    def run(self, state: RunState = RunState.DONE, **fields: Any) -> int:
        """Add a run a week after the previous one; returns its id."""
        self.runs += 1
        at = START + timedelta(weeks=self.runs)
        run = Run(shop_id=self.shop.id, state=state, started_at=at, finished_at=at, **fields)
        with self.store.write() as session:
            session.add(run)
        assert run.id is not None
        return run.id

    def catalog_offer(self, path: str | None, **fields: Any) -> int:
        """Add an offer of the catalog; returns its id."""
        self.catalog_ids += 1
        link = None if path is None else self.url(path)
        extra = {"ref": f"k{self.catalog_ids}", "link": link, "opaque": False} | fields
        self.rows.append(
            KnownOffer(id=self.catalog_ids, shop_id=self.shop.id, url=link, **self.priced(extra))
        )
        return self.catalog_ids

    def finding(
        self, run: int, path: str, verdict: Verdict | str = Verdict.MISSING, **fields: Any
    ) -> str:
        """Add a finding of the run with its offer's fields; returns its URL."""
        names = ("known_id", "score", "reasons", "urls", "why", "variant_of")
        of_match = {name: fields.pop(name) for name in names if name in fields}
        nearest = fields.pop("nearest", None)
        url = self.url(path)
        offer = OfferFields(
            **{"url": url, "title": f"Offer {path}", "currency": "EUR"} | self.priced(fields)
        )
        match = Match(
            run_id=run,
            shop_id=self.shop.id,
            url=url,
            verdict=Verdict(verdict),
            offer=offer.model_dump(mode="json"),
            nearest=nearest and OfferFields(**self.priced(nearest)).model_dump(mode="json"),
            **{"urls": [url], "score": 0.2} | of_match,
        )
        self.rows.append(match)
        return url

    def listed(self, run: int, path: str, **fields: Any) -> str:
        """Add a listed finding with its catalog offer; both have the same fields."""
        shared = {
            name: value
            for name, value in fields.items()
            if name not in ("availability", "nearest", "variant_of")
        }
        known_id = self.catalog_offer(
            path, **{"title": f"Offer {path}", "currency": "EUR"} | shared
        )
        nearest = (
            {"url": self.url(path), "title": f"Offer {path}", "currency": "EUR"}
            | shared
            | fields.pop("nearest", {})
        )
        return self.finding(
            run, path, Verdict.LISTED, known_id=known_id, score=0.98, nearest=nearest, **fields
        )

    def page(self, path: str, state: PageState = PageState.FETCHED, **fields: Any) -> None:
        """Add a page of the shop; a fetched one is an offer page by default."""
        extra = {"kind": PageKind.OFFER if state is PageState.FETCHED else None} | fields
        self.rows.append(Page(shop_id=self.shop.id, url=self.url(path), state=state, **extra))

    def rejected_row(self, raw: str, reason: str = "price is missing", line: int = 7) -> None:
        """Add a row of the feed that was rejected."""
        self.rows.append(
            BadRow(
                shop_id=self.shop.id, source="/feeds/offers.csv", line=line, reason=reason, raw=raw
            )
        )

    def decide(self, path: str, decision: ReviewDecision, note: str | None = None) -> None:
        """Add a review decision."""
        self.rows.append(
            Review(shop_id=self.shop.id, url=self.url(path), decision=decision, note=note)
        )

    def save(self) -> None:
        """Write the rows added since the last call."""
        with self.store.write() as session:
            session.add_all(self.rows)
            session.flush()
            if self.catalog_ids and self.store.engine.dialect.name == "postgresql":
                # Rows with explicit ids do not move the sequence on.
                session.exec(select(func.setval("known_offer_id_seq", self.catalog_ids)))
        self.rows = []

    def url(self, path: str) -> str:
        """Return the full URL of a path."""
        return path if "://" in path else f"{self.shop.url.rstrip('/')}/{path}"

    @staticmethod
    def priced(fields: dict[str, Any]) -> dict[str, Any]:
        """Return the fields with the price as a Decimal."""
        if fields.get("price") is None:
            return fields
        return fields | {"price": Decimal(str(fields["price"]))}


@pytest.fixture
def fill(store: Store, shop: Shop) -> StoreBuilder:
    """Return a builder of the shop's store."""
    return StoreBuilder(store, shop)
