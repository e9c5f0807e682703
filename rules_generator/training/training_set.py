"""The teachers of a stored shop: its known offers whose pages were crawled, with their pages open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from catalog.errors import NoKnownOffers
from catalog.models import KnownOffer, Shop, StoredRules
from catalog.runtime.progress import Progress, silent
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage, Opener, ways_to_pages
from parser.parse_job import newest_in
from rules_generator.training.examples import Example, join
from rules_generator.training.sampling import pick
from rules_generator.training.training_example import Taught

MOST_EXAMPLES = 60
POOL = 4


@dataclass(frozen=True)
class Teachers:
    """All known offers of a shop, how many of them have a page, and those picked to learn from."""

    known: Sequence[KnownOffer]
    examples: int
    taught: Sequence[Taught]


def teachers(
    store: Store,
    shop: Shop,
    pages: Sequence[CrawledPage],
    opener: Opener,
    most: int,
    since: datetime | None = None,
    progress: Progress = silent,
) -> Teachers:
    """The shop's teachers, at most so many per template of its pages; those fetched `since` then have half the places.

    Raises NoKnownOffers.
    """
    known = _known_offers(store, shop)
    progress("examples looked for", 0, len(known))
    examples = join(known, pages, opener, MOST_EXAMPLES, ways_to_pages(store, shop))
    return Teachers(known, len(examples), pick(_taught(examples, opener, since), most))


def newest_rules(store: Store, shop: Shop) -> StoredRules | None:
    """The newest rules of a shop as they are stored; None where there are none yet."""
    with store.read() as session:
        return newest_in(session, shop)


def _taught(examples: Sequence[Example], opener: Opener, since: datetime | None) -> list[Taught]:
    """Examples with their pages, at most four times as many as are used, evenly spread.

    Where a shop was redesigned and most of its pages rest, the few that show the new layout are not to be lost.
    """
    fresh, rested = (
        [one for one in examples if one.page.is_fresh(since) is asked] for asked in (True, False)
    )
    places = POOL * MOST_EXAMPLES // (2 if fresh and rested else 1)
    spread = (
        example for group in (fresh, rested) for example in group[:: max(1, len(group) // places)]
    )
    known = {example.page: example for example in spread}
    return [Taught(known[page], document) for page, document in opener.open_all(known)]


def _known_offers(store: Store, shop: Shop) -> list[KnownOffer]:
    with store.read() as session:
        found = list(
            session.exec(
                select(KnownOffer).where(KnownOffer.shop_id == shop.id).order_by(col(KnownOffer.id))
            )
        )
    if not found:
        raise NoKnownOffers(
            f"the catalog has no offer of {shop.name!r}: import some with 'scout catalog import {shop.name} SOURCE'"
        )
    return found
