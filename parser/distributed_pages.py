"""Read pages on Spark: each task reads some pages in a worker process of its own.

The worker process has the limits of a local one, so a page that is made to be slow, or of which
workers die, costs as little as there. Its result comes back as the JSON that is stored.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from catalog.models import Attribute, OfferFields
from catalog.runtime.batches import batches
from catalog.runtime.spark.session import SparkJobs, Work
from catalog.storage.bodies import share_credentials
from parser.crawled_pages import CrawledPage
from parser.parse_job import CHUNK_SIZE, ParseTask, StoredOutcome, read_in_workers

# Pages of one item: so many that starting a worker process costs little.
PAGES_PER_ITEM = 400


def read_distributed(
    jobs: SparkJobs, task: ParseTask, pages: Sequence[CrawledPage]
) -> Iterator[list[StoredOutcome]]:
    """Yield the outcomes of the pages, in their order."""
    shared = json.dumps([task.bodies_url, task.rules, task.thresholds]).encode()
    # A few pages are spread over all cores, too.
    size = min(PAGES_PER_ITEM, -(-len(pages) // jobs.cores) or 1)
    items = (_pack_pages(batch) for batch in batches(pages, size))
    for result in jobs.map(_prepare_reading, shared, items):
        outcomes = [_unpack_outcome(values) for values in json.loads(result)]
        for batch in batches(outcomes, CHUNK_SIZE):
            yield list(batch)


def _pack_pages(pages: Sequence[CrawledPage]) -> bytes:
    # A reading does not depend on the time of the fetch.
    return json.dumps([asdict(replace(page, fetched_at=None)) for page in pages]).encode()


def _prepare_reading(shared: bytes) -> Work:
    bodies_url, rules, thresholds = json.loads(shared)
    named = tuple((Attribute(name), least) for name, least in thresholds)
    task = ParseTask(bodies_url, rules, named)
    share_credentials(bodies_url)

    def run(item: bytes) -> bytes:
        pages = [CrawledPage(**values) for values in json.loads(item)]
        outcomes = []
        for chunk in read_in_workers(task, pages, workers=1):
            outcomes += [_outcome_values(outcome) for outcome in chunk]
        return json.dumps(outcomes).encode()

    return run


def _outcome_values(outcome: StoredOutcome) -> dict[str, object]:
    offers = [offer.model_dump(mode="json") for offer in outcome.offers]
    return asdict(replace(outcome, offers=())) | {"offers": offers}


def _unpack_outcome(values: dict[str, object]) -> StoredOutcome:
    offers = [OfferFields.model_validate(offer) for offer in values["offers"]]  # type: ignore[attr-defined]
    return StoredOutcome(**(values | {"offers": offers}))  # type: ignore[arg-type]
