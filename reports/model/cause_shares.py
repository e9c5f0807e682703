"""Causes of a run as the report lists them, ranked by value at stake."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from catalog.language.sentences import Sentence
from reports.causes.cause_kinds import ADVICE, CauseKind
from reports.causes.groups.group_causes import GroupCause, GroupCauses
from reports.statistics.completeness import VerdictCounts
from reports.statistics.findings_reader import Finding, decimal_text

_MAX_EVIDENCE = 5  # most frequent sentences kept per cause

# Cause, and the sentence of its group if it has one.
_ShareKey = tuple[str, Sentence | None]


@dataclass(frozen=True)
class EvidenceCount:
    """Sentence that supports a cause, with the number of offers that it holds for."""

    sentence: Sentence
    offers: int

    @property
    def text(self) -> str:
        """The sentence in English."""
        return self.sentence.text


@dataclass(frozen=True)
class CauseShare:
    """Missing offers that one cause explains: their number, their value, and the evidence.

    `group` has the figures of the test if the cause is a group of offers.
    """

    kind: CauseKind
    counts: VerdictCounts
    evidence: tuple[EvidenceCount, ...]
    group: GroupCause | None = None

    @property
    def offers(self) -> int:
        """Number of missing offers that the cause explains."""
        return self.counts.missing

    def as_json(self, main_currency: str | None) -> dict[str, Any]:
        """Return the cause as report.json has it."""
        values = sorted(self.counts.value.items())
        figures: dict[str, Any] = {
            "cause": self.kind.value,
            "missing": self.offers,
            "missing_value": decimal_text(self.counts.value_in(main_currency)),
            "missing_values": {currency: decimal_text(value) for currency, value in values},
            "advice": ADVICE[self.kind],
            "evidence": [
                {"text": evidence.text, "offers": evidence.offers} for evidence in self.evidence
            ],
            "group": None,
        }
        if self.group is not None:
            figures["group"] = _group_as_json(self.group)
        return figures


def _group_as_json(group: GroupCause) -> dict[str, Any]:
    return {
        "attribute": group.trait and group.trait.value,
        "value": group.value,
        "offers": group.offers,
        "missing": group.missing,
        "missing_share": round(group.missing / group.offers, 4),
        "missing_share_elsewhere": round(group.elsewhere, 4),
        "effect_size": round(group.effect, 3),
        # Small probabilities keep their order of magnitude.
        "p_value": float(f"{group.p_value:.3g}"),
    }


def summarize_causes(
    findings: Sequence[Finding],
    groups: GroupCauses,
    currency_weights: Mapping[str, Decimal],
) -> tuple[CauseShare, ...]:
    """Return the causes of the missing offers by value at stake, "not in the feed" last.

    `currency_weights` make amounts of several currencies comparable; an offer without a price
    counts as the mean.
    """
    members: dict[_ShareKey, list[Finding]] = {}
    group_of: dict[_ShareKey, GroupCause] = {}
    for finding in findings:
        if not finding.is_missing or not finding.cause:
            continue
        group = _explaining_group(finding, groups)
        key: _ShareKey = (finding.cause, None)
        if group is not None:
            key = (finding.cause, group.sentence)
            group_of[key] = group
        members.setdefault(key, []).append(finding)
    shares = []
    stakes: dict[int, Decimal] = {}
    for key, explained in members.items():
        share = _share(CauseKind(key[0]), explained, group_of.get(key))
        shares.append(share)
        stakes[id(share)] = sum(
            (_stake(finding, currency_weights) for finding in explained), Decimal(0)
        )
    shares.sort(
        key=lambda share: (share.kind is CauseKind.OTHER, -stakes[id(share)], -share.offers)
    )
    return tuple(shares)


def _explaining_group(finding: Finding, groups: GroupCauses) -> GroupCause | None:
    for group in groups.by_offer.get(finding.url, ()):
        if group.kind.value == finding.cause and group.trait is not None:
            return group
    return None


def _share(kind: CauseKind, explained: Sequence[Finding], group: GroupCause | None) -> CauseShare:
    counts = VerdictCounts()
    sentences: Counter[Sentence] = Counter()
    for finding in explained:
        counts.add(finding)
        sentences[finding.evidence[0]] += 1
    evidence = tuple(
        EvidenceCount(sentence, offers) for sentence, offers in sentences.most_common(_MAX_EVIDENCE)
    )
    return CauseShare(kind, counts, evidence, group)


def _stake(finding: Finding, currency_weights: Mapping[str, Decimal]) -> Decimal:
    if finding.price is None:
        return Decimal(1)
    return finding.price * currency_weights.get(finding.currency or "", Decimal(1))
