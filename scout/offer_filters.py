"""Filters of findings as text, of the command line and of the query of a web page alike."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from catalog.digits import is_ascii_number
from catalog.errors import UsageError
from catalog.models import Shop, Verdict
from catalog.storage.findings import Change, FindingFilter
from catalog.storage.runs import last_finished_run
from catalog.storage.store import Store
from scout.pipeline import run_records

MAX_TEXT = 500
"""Characters of a filter's text: a bound against hostile input."""

LAST_RUN = "last"
"""The value of `since` that stands for the finished run before the last one."""


@dataclass(frozen=True)
class FilterTexts:
    """The filters as given; None: any."""

    category: str | None = None
    brand: str | None = None
    price: str | None = None
    cause: str | None = None
    change: str | None = None
    since: str | None = None

    def given(self) -> dict[str, str]:
        """Return the filters that are given, by name."""
        return {name: value for name, value in vars(self).items() if value}


def parse_filters(
    store: Store,
    shop: Shop,
    texts: FilterTexts,
    *,
    verdicts: Iterable[Verdict] = (),
    includes_ignored: bool = False,
    only_ignored: bool = False,
) -> FindingFilter:
    """Parse the filters of a shop's findings. Raises UsageError for one that cannot be read."""
    price_from, price_to = parse_price_range(texts.price)
    since_run_id, since_at = _parse_since(store, shop, texts.since)
    return FindingFilter(
        verdicts=frozenset(verdicts),
        includes_ignored=includes_ignored,
        only_ignored=only_ignored,
        category=_bounded(texts.category),
        brand=_bounded(texts.brand),
        price_from=price_from,
        price_to=price_to,
        cause=_bounded(texts.cause),
        change=_parse_change(texts.change),
        since_run_id=since_run_id,
        since_at=since_at,
    )


def _bounded(text: str | None) -> str | None:
    return text[:MAX_TEXT] if text else None


def parse_price_range(text: str | None) -> tuple[Decimal | None, Decimal | None]:
    """Parse a price range `A-B`, `A-`, `-B` or one price; both ends belong to it.

    Raises UsageError.

    >>> parse_price_range("10-49.90"), parse_price_range("-5")
    ((Decimal('10'), Decimal('49.90')), (None, Decimal('5')))
    >>> parse_price_range("7")
    (Decimal('7'), Decimal('7'))
    """
    if not text:
        return None, None
    low, dash, high = text.partition("-")
    if not dash:
        high = low
    if not low.strip() and not high.strip():
        raise _bad_price(text)
    start, end = _parse_price(low, text), _parse_price(high, text)
    if start is not None and end is not None and start > end:
        raise UsageError(f"price {text[:40]!r} is no range: its first amount is the greater one")
    return start, end


def _parse_price(amount: str, text: str) -> Decimal | None:
    if not amount.strip():
        return None
    try:
        price = Decimal(amount.strip()[:40])
    except InvalidOperation as error:
        raise _bad_price(text) from error
    if not price.is_finite():
        raise _bad_price(text)
    return price


def _bad_price(text: str) -> UsageError:
    return UsageError(f"price {text[:40]!r} is no range: give A-B, A- or -B, such as 10-49.90")


def _parse_change(text: str | None) -> Change | None:
    if not text:
        return None
    if text not in set(Change):
        raise UsageError(f"change {text[:40]!r} is none of {', '.join(Change)}")
    return Change(text)


def _parse_since(store: Store, shop: Shop, text: str | None) -> tuple[int | None, datetime | None]:
    """Parse a run's id, `last`, or a date with or without a time (local time)."""
    if not text:
        return None, None
    if text == LAST_RUN:
        return _run_before_last(store, shop), None
    if is_ascii_number(text):
        return run_records.check_run_id(store, shop, int(text[:20])), None
    try:
        # A date without a zone is one of the reader's own.
        return None, datetime.fromisoformat(text[:40]).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"since {text[:40]!r} is neither a run nor a date: give a run's id, "
            f"{LAST_RUN}, or a date such as 2026-11-25"
        ) from error


def _run_before_last(store: Store, shop: Shop) -> int:
    shop_id = run_records.shop_key(shop)
    with store.read() as session:
        last = last_finished_run(session, shop_id)
        before = last_finished_run(session, shop_id, before=last.id) if last else None
    # Before the first finished run, every finding is since then.
    return before.id or 0 if before else 0
