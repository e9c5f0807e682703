"""Causes of a whole run: groups of missing offers, ranked by value at stake.

`infer_group_causes` is a function of plain records and reads no database, so that reports, stored
findings and simulations use the same inference.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

import numpy as np

from catalog.language.sentences import Money, Sentence, gettext_noop
from catalog.values.availability import OUT_OF_STOCK
from matcher.array_types import Bools
from reports.causes.cause_kinds import PART_KINDS, WHOLE_KINDS, CauseKind
from reports.causes.config import CauseConfig
from reports.causes.groups.group_sentences import GroupFigures, state_group
from reports.causes.groups.group_statistics import effect_size
from reports.causes.groups.pattern_search import Pattern, find_patterns
from reports.causes.offer_columns import (
    OfferRecord,
    Trait,
    Unpaired,
    build_columns,
)
from reports.statistics.price_bands import roundest_number

_CENT = Decimal("0.01")
_RECORDED = {
    CauseKind.REJECTED: gettext_noop("offers whose rows the import rejected: {offers}"),
    CauseKind.LOST: gettext_noop("offers that the feed had before and no longer has: {offers}"),
}


@dataclass(frozen=True)
class GroupCause:
    """Group of offers as a cause, with its evidence.

    `missing` of the `offers` in the group are missing; `elsewhere` is the missing share of the
    offers in no group, `effect` the difference of the two shares (Cohen's h), `p_value` the
    corrected probability of chance. `explained` are the ids of the missing offers that no cause
    ranked higher explains, `values` their prices per currency, `stake` the sum of these, weighted.
    A cause on record (a rejected row) has no trait, and is certain for each offer.
    """

    kind: CauseKind
    trait: Trait | None
    value: str
    sentence: Sentence
    missing: int
    offers: int
    elsewhere: float
    effect: float
    p_value: float
    explained: tuple[str, ...]
    values: Mapping[str, Decimal]
    stake: float


@dataclass(frozen=True)
class GroupCauses:
    """Causes ranked by value at stake; `by_offer` has the causes of each missing offer by its id,
    the one that explains it first.
    """

    ranked: tuple[GroupCause, ...] = ()
    by_offer: Mapping[str, tuple[GroupCause, ...]] = field(default_factory=dict)


def infer_group_causes(
    records: Sequence[OfferRecord],
    *,
    recorded: Mapping[str, CauseKind] = MappingProxyType({}),
    unpaired: Unpaired | None = None,
    currency_weights: Mapping[str, Decimal] | None = None,
    new_since: datetime | None = None,
    config: CauseConfig | None = None,
) -> GroupCauses:
    """Infer the causes of the missing offers among missing and listed ones.

    `unpaired` are the offers of the feed that were not paired. `recorded` has the causes on record
    by offer id; these offers need no other. `currency_weights` make amounts comparable for ranking;
    by default the mean price of the missing offers counts alike in every currency. `new_since` is
    the time of the previous run if `is_new` refers to it.
    """
    config = config or CauseConfig()
    weights = currency_weights or _mean_price_weights(records)
    by_kind: dict[CauseKind, list[OfferRecord]] = defaultdict(list)
    undetermined = []
    for record in records:
        if record.is_missing and record.id in recorded:
            by_kind[recorded[record.id]].append(record)
        else:
            undetermined.append(record)
    causes = [_recorded_cause(kind, offers, weights) for kind, offers in by_kind.items()]
    by_offer: dict[str, list[GroupCause]] = defaultdict(list)
    for cause in causes:
        for offer_id in cause.explained:
            by_offer[offer_id].append(cause)
    columns = build_columns(undetermined, unpaired, config)
    patterns = []
    if columns.is_missing.any() and not columns.is_missing.all():
        patterns = find_patterns(columns, config)
    stakes = np.array([_stake(record, weights) for record in undetermined])
    unexplained = columns.is_missing.copy()
    in_any = np.zeros(len(undetermined), dtype=bool)
    for pattern in patterns:
        in_any |= pattern.members
    elsewhere = _share(columns.is_missing & ~in_any, ~in_any)
    for pattern in _rank(patterns, columns.is_missing, stakes):
        group = _Group(pattern, undetermined, columns.is_missing, pattern.members & unexplained)
        unexplained &= ~pattern.members
        cause = _group_cause(group, elsewhere, weights, new_since, config)
        causes.append(cause)
        for index in np.flatnonzero(pattern.members & columns.is_missing).tolist():
            by_offer[undetermined[index].id].append(cause)
    causes.sort(key=lambda cause: -cause.stake)
    return GroupCauses(
        tuple(causes),
        {offer_id: tuple(offer_causes) for offer_id, offer_causes in by_offer.items()},
    )


@dataclass(frozen=True)
class _Group:
    """Pattern with the run's offers; `explained` marks the missing ones that it explains."""

    pattern: Pattern
    records: Sequence[OfferRecord]
    is_missing: Bools
    explained: Bools


def _rank(patterns: Sequence[Pattern], is_missing: Bools, stakes: np.ndarray) -> list[Pattern]:
    """Rank the patterns by the value that none before them explains, the greatest first."""
    remaining, unexplained = list(patterns), is_missing.copy()
    ranked = []
    while remaining:
        values = [stakes[pattern.members & unexplained].sum() for pattern in remaining]
        first = remaining.pop(int(np.argmax(values)))
        unexplained &= ~first.members
        ranked.append(first)
    return ranked


def _mean_price_weights(records: Sequence[OfferRecord]) -> dict[str, Decimal]:
    totals: dict[str, Decimal] = defaultdict(Decimal)
    offers: dict[str, int] = defaultdict(int)
    for record in records:
        if record.is_missing and record.price:
            totals[record.currency or ""] += record.price
            offers[record.currency or ""] += 1
    return {currency: offers[currency] / total for currency, total in totals.items()}


def _stake(record: OfferRecord, weights: Mapping[str, Decimal]) -> float:
    """Return the weighted price of a missing offer; one without a price counts as the mean."""
    if not record.is_missing:
        return 0.0
    if record.price is None:
        return 1.0
    return float(record.price * weights.get(record.currency or "", Decimal(1)))


def _share(part: Bools, total: Bools) -> float:
    size = int(total.sum())
    if not size:
        return 0.0
    return int(part.sum()) / size


def _recorded_cause(
    kind: CauseKind, offers: Sequence[OfferRecord], weights: Mapping[str, Decimal]
) -> GroupCause:
    return GroupCause(
        kind=kind,
        trait=None,
        value="",
        sentence=Sentence(_RECORDED[kind], {"offers": len(offers)}),
        missing=len(offers),
        offers=len(offers),
        elsewhere=0.0,
        effect=float(effect_size(1.0, 0.0)),
        p_value=0.0,
        explained=tuple(record.id for record in offers),
        values=_values(offers),
        stake=sum(_stake(record, weights) for record in offers),
    )


def _group_cause(
    group: _Group,
    elsewhere: float,
    weights: Mapping[str, Decimal],
    new_since: datetime | None,
    config: CauseConfig,
) -> GroupCause:
    pattern = group.pattern
    offers = int(pattern.members.sum())
    missing = int((pattern.members & group.is_missing).sum())
    is_whole = missing >= config.whole_share * offers
    low, high = _round_borders(pattern, group.records)
    figures = GroupFigures(
        listed=offers - missing,
        offers=offers,
        elsewhere=elsewhere,
        is_whole=is_whole,
        low=low,
        high=high,
        new_since=new_since,
    )
    explained = [group.records[index] for index in np.flatnonzero(group.explained).tolist()]
    return GroupCause(
        kind=_kind(pattern, is_whole, new_since),
        trait=pattern.trait,
        value=pattern.value,
        sentence=state_group(pattern.trait, pattern.value, figures),
        missing=missing,
        offers=offers,
        elsewhere=elsewhere,
        effect=float(effect_size(missing / offers, elsewhere)),
        p_value=pattern.p_value,
        explained=tuple(record.id for record in explained),
        values=_values(explained),
        stake=sum(_stake(record, weights) for record in explained),
    )


def _values(records: Sequence[OfferRecord]) -> dict[str, Decimal]:
    """Return the sum of the prices per currency."""
    values: dict[str, Decimal] = defaultdict(Decimal)
    for record in records:
        if record.price is not None:
            values[record.currency or ""] += record.price
    return dict(values)


def _kind(pattern: Pattern, is_whole: bool, new_since: datetime | None) -> CauseKind:
    trait = pattern.trait
    if trait is Trait.IS_NEW and new_since is not None:
        return CauseKind.NEW
    if trait is Trait.AVAILABILITY and pattern.value == OUT_OF_STOCK:
        return CauseKind.OUT_OF_STOCK
    if not is_whole and trait in PART_KINDS:
        return PART_KINDS[trait]
    return WHOLE_KINDS[trait]


def _round_borders(
    pattern: Pattern, records: Sequence[OfferRecord]
) -> tuple[Money | None, Money | None]:
    """Return round prices that describe an interval of prices without leaving it."""
    if pattern.trait is not Trait.PRICE:
        return None, None
    inside: list[Decimal] = []
    outside: list[Decimal] = []
    for record, is_member in zip(records, pattern.members.tolist(), strict=True):
        if record.price is None or record.currency != pattern.unit:
            continue
        (inside if is_member else outside).append(record.price)
    lowest, highest = min(inside), max(inside)
    low = high = None
    if pattern.low is not None:
        below = max((price for price in outside if price < lowest), default=Decimal(0))
        low = Money(roundest_number(min(below + _CENT, lowest), lowest), pattern.unit)
    if pattern.high is not None:
        above = min((price for price in outside if price > highest), default=highest + _CENT)
        high = Money(roundest_number(min(highest + _CENT, above), above), pattern.unit)
    return low, high
