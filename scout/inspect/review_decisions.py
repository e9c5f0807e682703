"""Review decisions on findings, stored by the offer's URL so that they outlive runs."""

from dataclasses import dataclass

from sqlmodel import Session, select

from catalog.errors import UsageError
from catalog.models import Attribute, Match, Review, ReviewDecision, Shop, utc_now
from catalog.storage.store import Store
from reports.model.finding_storage import update_finding
from scout.pipeline import run_records
from url_cleaner.cleaner import clean_url


@dataclass(frozen=True)
class RecordedDecision:
    """URL under which a decision was recorded.

    `is_finding` is True for a finding of the last finished run.
    """

    url: str
    is_finding: bool


def record_decision(
    store: Store, shop: Shop, url: str, decision: ReviewDecision, note: str | None = None
) -> RecordedDecision:
    """Record a review decision on a finding, in place of an earlier one.

    The stored finding of the last finished run and its counts follow at once. Any URL of the offer names it. Raises BadUrl.
    """
    run = run_records.shop_runs(store, shop).finished
    with store.write() as session:
        finding_url = _finding_url(session, run.id, url, shop) if run else None
        key = finding_url or clean_url(url, home=shop.url).url or url
        stored = select(Review).where(Review.shop_id == shop.id, Review.url == key)
        review = session.exec(stored).first()
        if review is None:
            review = Review(shop_id=run_records.shop_key(shop), url=key, decision=decision)
        review.decision, review.note, review.reviewed_at = decision, note, utc_now()
        session.add(review)
    if run is not None and finding_url is not None:
        update_finding(store, shop, run_records.run_key(run), finding_url)
    return RecordedDecision(key, finding_url is not None)


def parse_attribute(name: str) -> Attribute:
    """Return the attribute of that name. Raises UsageError that lists all.

    >>> parse_attribute("price").value
    'price'
    """
    if name not in set(Attribute):
        raise UsageError(f"{name!r} is no attribute: choose from {', '.join(Attribute)}")
    return Attribute(name)


def _finding_url(session: Session, run_id: int | None, url: str, shop: Shop) -> str | None:
    """Return the URL of the run's finding that has this URL among its own, or None."""
    exact = select(Match.url).where(Match.run_id == run_id, Match.url == url)
    if session.exec(exact).first():
        return url
    given = {url, clean_url(url, home=shop.url).url}
    urls_of_run = select(Match.url, Match.urls).where(Match.run_id == run_id)
    for finding_url, further_urls in session.exec(urls_of_run):
        if given & {finding_url, *further_urls}:
            return finding_url
    return None
