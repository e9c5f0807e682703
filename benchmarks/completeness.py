"""Benchmark the interval of completeness on simulated crawls that are cut short.

    python benchmarks/completeness.py [--runs 500] [--misses]

Prints the share of runs whose interval covers the truth (the share of the shop's offers that the
catalog lists), the mean and the median width of the interval, and the mean error of the estimate.

The recipe of a run, each with its own seed:

1. 300 to 5,000 offers (log-uniform) in 5 to 15 categories whose sizes fall by Zipf's law. 20 offers
   stand on a page of a category's list; 2 to 20 % further pages hold no offer.
2. The catalog lists 30 to 95 % of the shop. The share of each category is beta-distributed around
   it (concentration 10); 8 % of the categories are missing as a whole. Up to 15 % further catalog
   offers are gone from the shop.
3. All, 90 %, 70 % or none of the catalog's links are readable.
4. One shop in two has a sitemap of all pages, in random order or by category. The crawl fetches the
   catalog's links first, then the sitemap, then links: a list leads to its offers and to the next
   page of the list, an offer to its category and to four others of it. 1 % of the pages fail.
5. The crawl is cut after 20 to 98 % of all pages.
6. The matcher is unsure of 0 to 5 % of the offers; its probabilities are calibrated.
"""

import argparse
import heapq
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean, median

from reports.statistics.completeness_estimate import (
    CrawlSample,
    PageBlock,
    estimate_completeness,
)
from reports.statistics.crawl_sample import BLOCKS

OFFERS_PER_LIST = 20
RELATED_OFFERS = 4
# Priorities of the crawler by source of a URL: catalog, sitemap, next page of a list, link.
KNOWN_OFFER = 90
SITEMAP = 50
NEXT_LIST = 38
LINK = 30
# Probabilities of the matcher: an offer is listed above the first, missing below the second.
LISTED_FROM = 0.7
MISSING_TO = 0.3

Page = tuple[str, int, int]
"""Kind of a page, the offer's or category's number, the number of the list's page."""


@dataclass
class Shop:
    """A simulated shop: the category of each offer, and whether the catalog lists and links it."""

    categories: list[int]
    listed: list[bool]
    readable: list[bool]
    members: list[list[int]]
    others: int
    gone: int
    gone_readable: int

    @property
    def completeness(self) -> float:
        """The truth."""
        return sum(self.listed) / len(self.listed)

    def pages(self) -> Iterator[Page]:
        """Yield all pages."""
        for number in range(len(self.categories)):
            yield "offer", number, 0
        for category, members in enumerate(self.members):
            for page in range(math.ceil(len(members) / OFFERS_PER_LIST)):
                yield "list", category, page
        for number in range(self.others):
            yield "other", number, 0


@dataclass
class Crawl:
    """Discovered pages by source, and the fetched ones in their order."""

    sources: dict[Page, str] = field(default_factory=dict)
    fetched: list[Page] = field(default_factory=list)
    queue: list[tuple[int, int, Page]] = field(default_factory=list)

    def discover(self, page: Page, priority: int, source: str) -> None:
        """Add a page to the frontier."""
        if page not in self.sources:
            heapq.heappush(self.queue, (-priority, len(self.sources), page))
            self.sources[page] = source


def make_shop(generator: random.Random) -> Shop:
    """Make a shop and its catalog."""
    offers = round(math.exp(generator.uniform(math.log(300), math.log(5000))))
    count = generator.randint(5, 15)
    weights = [1 / (n + 1) for n in range(count)]
    mean = generator.uniform(0.3, 0.95)
    shares = []
    for _ in range(count):
        is_whole = generator.random() < 0.08
        shares.append(0.0 if is_whole else generator.betavariate(mean * 10, (1 - mean) * 10))
    categories = generator.choices(range(count), weights, k=offers)
    listed = [generator.random() < shares[category] for category in categories]
    readable_share = generator.choice((1.0, 0.9, 0.7, 0.0))
    gone = round(sum(listed) * generator.uniform(0, 0.15))
    members: list[list[int]] = [[] for _ in range(count)]
    for number, category in enumerate(categories):
        members[category].append(number)
    return Shop(
        categories=categories,
        listed=listed,
        readable=[is_listed and generator.random() < readable_share for is_listed in listed],
        members=members,
        others=round(offers * generator.uniform(0.02, 0.2)),
        gone=gone,
        gone_readable=sum(generator.random() < readable_share for _ in range(gone)),
    )


def crawl_shop(shop: Shop, has_sitemap: bool, generator: random.Random) -> Crawl:
    """Crawl a part of the shop."""
    crawl = Crawl()
    pages = list(shop.pages())
    for number, is_readable in enumerate(shop.readable):
        if is_readable:
            crawl.discover(("offer", number, 0), KNOWN_OFFER, "known")
    for number in range(shop.gone_readable):
        crawl.discover(("gone", number, 0), KNOWN_OFFER, "known")
    budget = round((len(pages) + shop.gone_readable) * generator.uniform(0.2, 0.98))
    if has_sitemap:
        if generator.random() < 0.5:
            pages.sort(key=lambda page: sitemap_place(page, shop))
        else:
            generator.shuffle(pages)
        for page in pages:
            crawl.discover(page, SITEMAP, "sitemap")
    for category in range(len(shop.members)):
        crawl.discover(("list", category, 0), LINK, "link")
    for number in range(min(shop.others, 30)):
        crawl.discover(("other", number, 0), LINK, "link")
    while crawl.queue and len(crawl.fetched) < budget:
        _, _, page = heapq.heappop(crawl.queue)
        if generator.random() < 0.01:
            continue
        crawl.fetched.append(page)
        follow_links(page, shop, crawl, generator)
    return crawl


def sitemap_place(page: Page, shop: Shop) -> int:
    """Return the place of a page in a sitemap by category; other pages come last."""
    kind, number, _ = page
    if kind == "offer":
        return shop.categories[number]
    return number if kind == "list" else len(shop.members)


def follow_links(page: Page, shop: Shop, crawl: Crawl, generator: random.Random) -> None:
    """Discover the pages that a page links to."""
    kind, number, part = page
    if kind == "list":
        members = shop.members[number]
        start = part * OFFERS_PER_LIST
        for offer in members[start : start + OFFERS_PER_LIST]:
            crawl.discover(("offer", offer, 0), LINK, "link")
        if start + OFFERS_PER_LIST < len(members):
            crawl.discover(("list", number, part + 1), NEXT_LIST, "link")
    elif kind == "offer":
        category = shop.categories[number]
        members = shop.members[category]
        crawl.discover(("list", category, 0), LINK, "link")
        for offer in generator.sample(members, min(RELATED_OFFERS, len(members))):
            crawl.discover(("offer", offer, 0), LINK, "link")
    elif kind == "other":
        for other in generator.sample(range(shop.others), min(3, shop.others)):
            crawl.discover(("other", other, 0), LINK, "link")


def simulate(seed: int) -> tuple[CrawlSample, float]:
    """Simulate one run; returns its figures and the true completeness."""
    generator = random.Random(seed)
    shop = make_shop(generator)
    has_sitemap = generator.random() < 0.5
    crawl = crawl_shop(shop, has_sitemap, generator)
    doubtful = generator.uniform(0, 0.05)
    verdicts: dict[int, str] = {}
    found_count = recaptured = 0
    falsely_missing = falsely_listed = 0.0
    for kind, number, _ in crawl.fetched:
        if kind != "offer":
            continue
        is_listed = shop.listed[number]
        probability = 0.998 if is_listed else 0.002
        if generator.random() < doubtful:
            # Densities 2p and 2(1 - p): of the offers with probability p, p are listed.
            probability = generator.betavariate(*((2, 1) if is_listed else (1, 2)))
        verdict = "unsure"
        if probability > LISTED_FROM:
            verdict = "listed"
            falsely_listed += 1 - probability
        elif probability < MISSING_TO:
            verdict = "missing"
            falsely_missing += probability
        verdicts[number] = verdict
        found_count += shop.readable[number]
        recaptured += is_listed and not shop.readable[number] and verdict == "listed"
    discovered = [page for page in crawl.fetched if crawl.sources[page] != "known"]
    blocks = []
    for block in range(BLOCKS):
        start, end = (len(discovered) * part // BLOCKS for part in (block, block + 1))
        pages = discovered[start:end]
        missing = sum(
            kind == "offer" and verdicts[number] == "missing" for kind, number, _ in pages
        )
        if pages:
            blocks.append(PageBlock(len(pages), missing))
    gone = sum(kind == "gone" for kind, _, _ in crawl.fetched)
    linked = sum(shop.readable) + shop.gone_readable
    catalog_size = sum(shop.listed) + shop.gone
    unseen = set(crawl.sources) - set(crawl.fetched)
    sample = CrawlSample(
        listed=sum(verdict == "listed" for verdict in verdicts.values()),
        missing=sum(verdict == "missing" for verdict in verdicts.values()),
        unsure=sum(verdict == "unsure" for verdict in verdicts.values()),
        found=found_count,
        gone=gone,
        not_crawled=linked - found_count - gone,
        recaptured=recaptured,
        not_recaptured=catalog_size - linked - recaptured,
        blocks=blocks,
        waiting=sum(crawl.sources[page] != "known" for page in unseen),
        fetched=len(crawl.fetched),
        lists_all_pages=has_sitemap,
        falsely_missing=falsely_missing,
        falsely_listed=falsely_listed,
    )
    return sample, shop.completeness


def main() -> None:
    """Simulate runs, and print how often the interval covers the truth."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] if __doc__ else ""
    )
    argument_parser.add_argument("--runs", type=int, default=500)
    argument_parser.add_argument("--first", type=int, default=0)
    argument_parser.add_argument("--misses", action="store_true")
    arguments = argument_parser.parse_args()
    covered = 0
    widths, errors = [], []
    for seed in range(arguments.first, arguments.first + arguments.runs):
        sample, truth = simulate(seed)
        estimate = estimate_completeness(sample)
        if estimate is None:
            continue
        is_covered = estimate.low <= truth <= estimate.high
        covered += is_covered
        widths.append(estimate.high - estimate.low)
        errors.append(abs(estimate.share - truth))
        if arguments.misses and not is_covered:
            print(seed, f"truth {truth:.3f}", estimate, sample)
    print(f"covered: {covered / len(widths):.3f} of {len(widths)} runs")
    print(f"width of the interval: mean {fmean(widths):.3f}, median {median(widths):.3f}")
    print(f"error of the estimate: mean {fmean(errors):.3f}")


if __name__ == "__main__":
    main()
