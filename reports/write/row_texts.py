"""Texts of the rows that the HTML report has as a table, as its script makes them."""

from dataclasses import dataclass
from functools import cached_property

from catalog.language.languages import Language
from catalog.values.availability import OUT_OF_STOCK
from reports.statistics.category_paths import format_category
from reports.statistics.findings_reader import Finding
from reports.write.script_messages import script_messages

_MAX_OBSERVATIONS = 2  # further sentences of evidence beside the first


@dataclass(frozen=True)
class RowTexts:
    """Texts of a row by field."""

    identifiers: str = ""
    seen: str = ""
    change: str = ""
    word: str = ""
    category: str = ""
    brand: str = ""
    price: str = ""
    evidence: str = ""
    also: str = ""
    nearest: str = ""


@dataclass(frozen=True, eq=False)
class RowWriter:
    """Writer of the texts of rows in a language."""

    language: Language

    @cached_property
    def _messages(self) -> dict[str, str]:
        return script_messages(self.language)

    def of(self, finding: Finding) -> RowTexts:
        """Return the texts of a finding's row."""
        evidence = [sentence.in_language(self.language) for sentence in finding.evidence]
        return RowTexts(
            identifiers=self._identifiers(finding),
            seen=self._sightings(finding),
            change=self._messages.get(f"change_{finding.since}", ""),
            word=self._decision(finding),
            category=format_category(finding.category) or "–",
            brand=finding.brand or "",
            price=self.language.price(finding.price, finding.currency),
            evidence=evidence[0] if evidence else "",
            also="; ".join(evidence[1 : 1 + _MAX_OBSERVATIONS]),
            nearest=self._nearest(finding),
        )

    def _identifiers(self, finding: Finding) -> str:
        numbers = [("EAN", finding.ean), ("SKU", finding.sku), ("HAN", finding.han)]
        identifiers = [f"{name} {value}" for name, value in numbers if value]
        if finding.availability == OUT_OF_STOCK:
            identifiers.append(self._messages["out_of_stock"])
        return " · ".join(identifiers)

    def _nearest(self, finding: Finding) -> str:
        if finding.nearest is None:
            return self._messages["nothing_similar"]
        currency = finding.nearest.currency or finding.currency
        price = self.language.price(finding.nearest.price, currency)
        probability = self.language.share(finding.score)
        return f"{price} · {self._messages['probability']} {probability}"

    def _sightings(self, finding: Finding) -> str:
        if finding.first_seen_at is None:
            return ""
        first = self.language.minute(finding.first_seen_at)
        text = f"{self._messages['first_seen']} {first}"
        if finding.last_seen_at == finding.first_seen_at:
            return text
        last = self.language.minute(finding.last_seen_at)
        return f"{text}, {self._messages['last_seen']} {last}"

    def _decision(self, finding: Finding) -> str:
        if finding.decision is None:
            return ""
        decision = self._messages[f"word_{finding.decision.value}"]
        return f"{decision}: {finding.note}" if finding.note else decision
