"""The matching step of a run: offers from the store in, the run's matches out, in one transaction.

A killed step has written nothing, and a repeated one replaces its former rows. Where all that the
matches depend on is as in an earlier run, the rows of that run are copied.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, insert, literal
from sqlalchemy import select as sql_select
from sqlmodel import Session, SQLModel, col, delete, select

from catalog.models import Match, OfferFields, Review, ReviewDecision, Shop, Stage, Verdict
from catalog.runtime.code_version import code_version
from catalog.runtime.garbage_collection import importing
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.spark.session import SparkJobs
from catalog.storage.fingerprints import Digest, find_fingerprint, store_fingerprint
from catalog.storage.store import Store
from matcher.config import DEFAULT_CONFIG
from matcher.known_side import KnownSide, read_known_side, retrieve_known_side
from matcher.records.stored_offers import to_fields
from matcher.shop_side import ShopSide, read_shop_side
from url_cleaner.urls.url import url_rank

if TYPE_CHECKING:
    from matcher.match import MatchResult

# Packages whose code the matches depend on.
MATCHING_PACKAGES = ("catalog", "matcher", "url_cleaner")
# Characters of a candidate's title and URL that are stored with a match.
MAX_STORED_TEXT = 500


@dataclass(frozen=True)
class MatchSummary:
    """The number of a shop's offers by verdict, and the time of the step.

    Offers that a reviewer `ignored` are not among the others.
    """

    offers: int
    listed: int
    missing: int
    unsure: int
    seconds: float
    ignored: int = 0


@dataclass(frozen=True)
class _Sides:
    """All that the matches of a shop depend on but the code.

    `reviews` are the decisions to accept or reject, by URL.
    """

    shop: ShopSide
    known: KnownSide
    reviews: Mapping[str, ReviewDecision]
    precision: float


def match_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    jobs: SparkJobs | None = None,
    precision: float | None = None,
    anew: bool = False,
    progress: Progress = no_progress,
) -> MatchSummary:
    """Decide every offer of the shop and write the run's matches.

    They are those of an earlier run if offers, catalog and decisions are the same (`anew`: even
    then they are computed). `precision` defaults to that of the settings. With `jobs` candidates
    are searched and compared on Spark. Raises WorkerError if Spark fails.
    """
    begin = time.monotonic()
    with store.read() as session:
        side = read_shop_side(session, shop)
        known = read_known_side(session, shop, len(side.offers))
        reviews = _read_reviews(session, shop)
    # Several pages may show one offer: the number of offers is known when they are grouped.
    progress("offers matched", 0, None, pages=len(side.offers))
    # An ignored offer is matched as any other: it stays among the findings, marked.
    decided = {url: word for url, word in reviews.items() if word is not ReviewDecision.IGNORE}
    sides = _Sides(side, known, decided, settings.precision if precision is None else precision)
    digest = _digest_inputs(sides)
    rows = None if anew else _take_over_matches(store, shop, run_id, digest)
    if rows is None:
        if known.version:
            sides = replace(sides, known=retrieve_known_side(store, shop, side, progress))
            # Another process may have imported since the version was read.
            digest = _digest_inputs(sides)
        rows = _match_sides(settings, store, shop, run_id, sides, digest, jobs)
    counted = [row.verdict for row in rows if not _is_ignored(row, reviews)]
    progress("offers matched", len(rows), len(rows), pages=len(side.offers))
    return MatchSummary(
        offers=len(counted),
        listed=counted.count(Verdict.LISTED),
        missing=counted.count(Verdict.MISSING),
        unsure=counted.count(Verdict.UNSURE),
        seconds=time.monotonic() - begin,
        ignored=len(rows) - len(counted),
    )


def _match_sides(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    sides: _Sides,
    digest: str,
    jobs: SparkJobs | None,
) -> list[Match]:
    """Match the offers, and store the matches with their fingerprint. Returns the matches."""
    # Imported late: SciPy takes a quarter of a second to load, and a run without changes needs none.
    with importing():
        from matcher.features.cache import MatchCache
        from matcher.match import match_offers

    side, known = sides.shop, sides.known
    # Spark computes all features anew, which leaves nothing to store.
    cache = None if jobs else MatchCache(settings.data_dir / "matching" / f"{shop.id}.npz")
    results = match_offers(
        side.offers,
        [to_fields(row) for row in known.rows],
        config=replace(DEFAULT_CONFIG, precision=sides.precision),
        catalog_products=[row.product for row in known.rows],
        reviews=sides.reviews,
        alternate_urls=side.alternate_urls,
        variant_pages=side.variant_pages,
        page_languages=side.page_versions,
        cache=cache,
        statistics=known.statistics,
        jobs=jobs,
    )
    rows = _build_rows(results, side, known.rows, run_id, shop.id or 0)
    with store.write() as session:
        session.exec(delete(Match).where(col(Match.run_id) == run_id))
        session.add_all(rows)
        store_fingerprint(session, run_id, Stage.MATCH, digest=digest, matches=len(rows))
    # The cache only saves time: a full disk does not fail the step.
    if cache:
        with suppress(OSError):
            cache.save()
    return rows


def _digest_inputs(sides: _Sides) -> str:
    """Return the fingerprint of matching: everything that the matches depend on."""
    digest = Digest(code_version(*MATCHING_PACKAGES), sides.precision)
    digest.add(list(sides.reviews.items()))
    shop = sides.shop
    for offer in shop.offers:
        digest.add(_field_values(offer))
    digest.add(shop.pages, shop.alternate_urls, shop.variant_pages)
    for versions in shop.page_versions:
        digest.add((versions.language, versions.canonical))
        digest.add(list(versions.alternates.items()))
    if sides.known.version:
        digest.add(sides.known.version)
        return digest.hexdigest()
    for row in sides.known.rows:
        digest.add((row.id, row.ref, row.product, *_field_values(row)))
    return digest.hexdigest()


def _field_values(offer: OfferFields | Row[Any]) -> tuple[Any, ...]:
    return tuple(getattr(offer, name) for name in OfferFields.model_fields)


def _take_over_matches(store: Store, shop: Shop, run_id: int, digest: str) -> list[Match] | None:
    """Copy the matches of an earlier run with the same fingerprint; None where there is none."""
    table = SQLModel.metadata.tables[str(Match.__tablename__)]
    copied = [column for column in table.columns if column.name not in ("id", "run_id")]
    with store.write() as session:
        found = find_fingerprint(session, shop.id or 0, Stage.MATCH, digest)
        if found is None:
            return None
        source_id, values = found
        if source_id != run_id:
            session.exec(delete(Match).where(col(Match.run_id) == run_id))
            rows = sql_select(literal(run_id), *copied).where(table.c.run_id == source_id)
            names = ["run_id", *(column.name for column in copied)]
            copy = insert(table).from_select(names, rows.order_by(table.c.id))
            session.connection().execute(copy)
        matches = list(
            session.exec(select(Match).where(Match.run_id == run_id).order_by(col(Match.id)))
        )
        # Old matches may have been deleted.
        if len(matches) != values.get("matches"):
            return None
        store_fingerprint(session, run_id, Stage.MATCH, digest=digest, matches=len(matches))
    return matches


def _is_ignored(row: Match, reviews: Mapping[str, ReviewDecision]) -> bool:
    """Return True if the decision under the first reviewed URL of an offer is to ignore it."""
    for url in (row.url, *row.urls):
        if url in reviews:
            return reviews[url] is ReviewDecision.IGNORE
    return False


def _read_reviews(session: Session, shop: Shop) -> dict[str, ReviewDecision]:
    query = select(Review).where(Review.shop_id == shop.id)
    return {review.url: ReviewDecision(review.decision) for review in session.exec(query)}


def _build_rows(
    results: "Sequence[MatchResult]",
    side: ShopSide,
    catalog: Sequence[Row[Any]],
    run_id: int,
    shop_id: int,
) -> list[Match]:
    """Build the run's rows, each with a URL of its own.

    Where several offers name one URL, it goes to one whose page has that URL, else to the first;
    the others get the URLs of their pages.
    """
    taken: set[str] = set()
    # Offers of each URL that have no URL of their own: numbers per URL stay when others come or go.
    numbers = Counter[str]()
    rows = []
    for result in sorted(results, key=lambda result: _names_another_page(result, side)):
        own_urls = _own_urls(result, side)
        urls = list(own_urls)
        for index in result.pages:
            urls += side.alternate_urls[index]
        urls = list(dict.fromkeys(urls))
        url = next((url for url in own_urls if url not in taken), "")
        while not url or url in taken:
            numbers[urls[0]] += 1
            url = f"{urls[0]}#{numbers[urls[0]] + 1}"
        taken.add(url)
        offer = side.offers[result.offer].model_copy(update={"url": url})
        nearest = None
        if result.nearest is not None:
            nearest = catalog[result.nearest]
        rows.append(
            Match(
                run_id=run_id,
                shop_id=shop_id,
                url=url,
                urls=_in_order(urls, url),
                known_id=nearest.id if nearest else None,
                verdict=result.verdict,
                score=round(result.score, 4),
                reasons=list(result.reasons),
                offer=offer.model_dump(mode="json"),
                nearest=to_fields(nearest).model_dump(mode="json") if nearest else None,
                why=_name_candidates(result, catalog),
                variant_of=side.variant_pages[result.offer],
            )
        )
    return rows


def _in_order(urls: Sequence[str], first: str) -> list[str]:
    """Return the URLs of an offer: the one that stands for it, then the others by rank."""
    other_urls = sorted((url for url in urls if url != first), key=url_rank)
    return [first, *other_urls] if first in urls else other_urls


def _names_another_page(result: "MatchResult", side: ShopSide) -> bool:
    """Return True if an offer's URL is that of another page."""
    url = side.offers[result.offer].url or side.pages[result.offer]
    return url not in {side.pages[index] for index in result.pages}


def _own_urls(result: "MatchResult", side: ShopSide) -> list[str]:
    """Return the URLs that may stand for an offer: canonical ones, then those of its pages."""
    urls = [side.offers[index].url or side.pages[index] for index in result.pages]
    for index in result.pages:
        # A page with several variants stands for none of them.
        if not side.variant_pages[index]:
            urls.append(side.pages[index])
    return urls


def _name_candidates(result: "MatchResult", catalog: Sequence[Row[Any]]) -> dict[str, Any]:
    """Return the details of a result with its candidates by reference, title and URL.

    The weights of a candidate say what speaks for it (above zero) and against it, in log-odds.
    """
    candidates = []
    for row, score, weights in result.details.get("candidates", ()):
        offer = catalog[row]
        candidates.append(
            {
                "ref": offer.ref,
                "title": (offer.title or "")[:MAX_STORED_TEXT],
                "url": (offer.url or "")[:MAX_STORED_TEXT],
                "score": score,
                "weights": weights,
            }
        )
    return result.details | {"candidates": candidates}
