"""The training set of a stored shop: its known offers with their pages opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from catalog.errors import NoKnownOffers
from catalog.models import KnownOffer, Shop, StoredRules
from catalog.runtime.progress import Progress, no_progress
from catalog.storage.store import Store
from parser.crawled_pages import CrawledPage, PageOpener, redirect_targets
from parser.parse_job import newest_rules_row
from rules_generator.training.examples import Example, TrainingExample, join_offers
from rules_generator.training.sampling import sample_examples

# Cap: examples per template.
MAX_EXAMPLES = 60
# Pages opened for each example that is sampled.
POOL_FACTOR = 4


@dataclass(frozen=True)
class TrainingSet:
    """All known offers of a shop, the number of them that have a page, and the sampled examples."""

    known_offers: Sequence[KnownOffer]
    joined: int
    examples: Sequence[TrainingExample]


def load_training_set(
    store: Store,
    shop: Shop,
    pages: Sequence[CrawledPage],
    opener: PageOpener,
    limit: int,
    since: datetime | None = None,
    progress: Progress = no_progress,
) -> TrainingSet:
    """Load the shop's examples, at most `limit` per template; pages fetched `since` fill half of
    the pool.

    Raises NoKnownOffers.
    """
    offers = known_offers(store, shop)
    progress("examples looked for", 0, len(offers))
    joined = join_offers(offers, pages, opener, MAX_EXAMPLES, redirect_targets(store, shop))
    progress("examples looked for", len(offers), len(offers))
    opened = _open_pool(joined, opener, since, progress)
    return TrainingSet(offers, len(joined), sample_examples(opened, limit))


def latest_rules(store: Store, shop: Shop) -> StoredRules | None:
    """Return the newest stored rules of a shop; None where there are none yet."""
    with store.read() as session:
        return newest_rules_row(session, shop)


def _open_pool(
    examples: Sequence[Example], opener: PageOpener, since: datetime | None, progress: Progress
) -> list[TrainingExample]:
    """Open the pages of an evenly spread pool of examples.

    After a redesign most pages rest, and the few fetched since then show the new layout: they get
    half of the pool.
    """
    fresh, resting = list[Example](), list[Example]()
    for example in examples:
        (fresh if example.page.is_fresh(since) else resting).append(example)
    size = POOL_FACTOR * MAX_EXAMPLES // (2 if fresh and resting else 1)
    pool = [*_every_nth(fresh, size), *_every_nth(resting, size)]
    by_page = {example.page: example for example in pool}
    opened = []
    for number, (page, document) in enumerate(opener.open_all(by_page), 1):
        opened.append(by_page[page].with_document(document))
        progress("example pages opened", number, len(by_page))
    return opened


def _every_nth(examples: Sequence[Example], size: int) -> Sequence[Example]:
    return examples[:: max(1, len(examples) // size)]


def known_offers(store: Store, shop: Shop) -> list[KnownOffer]:
    """Return the known offers of a shop in the order of their ids. Raises NoKnownOffers."""
    query = select(KnownOffer).where(KnownOffer.shop_id == shop.id).order_by(col(KnownOffer.id))
    with store.read() as session:
        offers = list(session.exec(query))
    if not offers:
        raise NoKnownOffers(
            f"the catalog has no offer of {shop.name!r}: "
            f"import some with 'scout catalog import {shop.name} SOURCE'"
        )
    return offers
