"""A shop whose pages are labelled with their values: the test data of an evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Split of a shop's labelled pages: the first half, at most 50, to learn from; then at most 100 to
# test on.
MAX_TRAINING = 50
MAX_TESTING = 100


@dataclass(frozen=True)
class LabelledPage:
    """A page with its values by attribute, and further right ones (prices of variants)."""

    name: str
    url: str
    html: bytes
    attributes: Mapping[str, Any] = field(default_factory=dict)
    alternatives: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def currency(self) -> str | None:
        """The currency of its prices, where that is labelled."""
        return str(self.attributes.get("currency") or "") or None


@dataclass(frozen=True)
class LabelledShop:
    """A shop's labelled offer pages, its other offer pages, and its pages without offers."""

    name: str
    pages: tuple[LabelledPage, ...]
    unlabelled_offers: tuple[LabelledPage, ...] = ()
    other_pages: tuple[LabelledPage, ...] = ()

    @property
    def training(self) -> tuple[LabelledPage, ...]:
        """The pages to learn from."""
        return self.pages[: self._split]

    @property
    def testing(self) -> tuple[LabelledPage, ...]:
        """The pages to test on."""
        return self.pages[self._split : self._split + MAX_TESTING]

    @property
    def background(self) -> tuple[LabelledPage, ...]:
        """Pages without an offer: seen in learning, as any page of a crawl, unlabelled."""
        return self.other_pages[::2]

    @property
    def unseen_other_pages(self) -> tuple[LabelledPage, ...]:
        """The pages that are no offers and were not seen in learning."""
        return self.other_pages[1::2]

    @property
    def _split(self) -> int:
        return min(MAX_TRAINING, len(self.pages) // 2)
