"""Variants: missing offers that differ from a listed one in size, colour or amount only.

Nearly equal titles alone do not make a variant: the key blanks AR-1 and AB-1 are two products. An
offer is a variant if a listed offer shares its page, or if its title differs from that of the
nearest catalog offer in nothing but sizes, amounts, and words that tell the offers of one page
apart. If two listed offers differ in just that way, the feed has one row per variant, and the
missing row needs another explanation.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from catalog.language.sentences import Sentence
from catalog.models import Verdict
from matcher.features.variant_words import learn_variant_words
from matcher.records.product_kinds import detect_product_kind
from matcher.records.record import Record
from matcher.records.text import fold
from matcher.records.units import extract_quantities
from reports.statistics.findings_reader import Finding, NearestOffer

# Differences between two titles are named by an amount's unit, by a word, or by one of these.
_NO_DIFFERENCE = "the same title"
_SIZE = "a size"


@dataclass(frozen=True)
class VariantEvidence:
    """Evidence that a missing offer is a variant of a listed one.

    `proves_collapse` is True if the feed nowhere has a row per variant, so that this alone explains
    why the offer is missing.
    """

    sentence: Sentence
    proves_collapse: bool


@dataclass
class VariantIndex:
    """Titles of a run's offers by page, to recognise missing variants of listed offers.

    `listed_ids` are the catalog offers that are paired already; `listed_titles` their titles.
    `listed_on_page` has one listed title per page with several offers, `titles_on_page` the titles
    of all its offers. `first_titles` has the first listed title of each address with parameters;
    `scripts` are those addresses that show different products, such as `/index.php`.
    `listed_counts` has the number of listed offers per page with several offers.
    """

    listed_ids: set[int] = field(default_factory=set)
    listed_titles: list[str] = field(default_factory=list)
    listed_on_page: dict[str, str] = field(default_factory=dict)
    titles_on_page: dict[str, list[str]] = field(default_factory=dict)
    first_titles: dict[str, str] = field(default_factory=dict)
    scripts: set[str] = field(default_factory=set)
    listed_counts: Counter[str] = field(default_factory=Counter)
    _evidence: dict[str, VariantEvidence | None] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Add an offer of the shop with any verdict."""
        if finding.variant_of and finding.title:
            self.titles_on_page.setdefault(finding.variant_of, []).append(finding.title)

    def add_listed(self, finding: Finding) -> None:
        """Add an offer that the catalog lists."""
        if finding.known_id is not None:
            self.listed_ids.add(finding.known_id)
        if finding.variant_of:
            self.listed_counts[finding.variant_of] += 1
        title = (finding.nearest and finding.nearest.title) or finding.title
        if not title:
            return
        self.listed_titles.append(title)
        address, _, parameters = finding.url.partition("?")
        if parameters:
            first_title = self.first_titles.setdefault(address, title)
            if not _share_half_of_words(title, first_title):
                self.scripts.add(address)
        if finding.variant_of:
            self.listed_on_page.setdefault(finding.variant_of, title)

    def evidence(self, finding: Finding) -> VariantEvidence | None:
        """Return the evidence that a missing offer is a variant of a listed one, or None.

        All offers have to be added before.
        """
        if finding.url not in self._evidence:
            self._evidence[finding.url] = self._find_evidence(finding)
        return self._evidence[finding.url]

    def has_listed_variant(self, page: str | None, verdict: Verdict) -> bool | None:
        """Return True if the catalog lists another offer of a page; None without such a page."""
        if page is None:
            return None
        other_listed = self.listed_counts[page]
        if verdict is Verdict.LISTED:
            other_listed -= 1
        return other_listed > 0

    def _find_evidence(self, finding: Finding) -> VariantEvidence | None:
        nearest = finding.nearest
        if nearest is not None and finding.known_id not in self.listed_ids:
            nearest = None
        if nearest is not None and self._shares_page(finding.url, nearest.url):
            return self._page_evidence(nearest.title)
        page_title = self.listed_on_page.get(finding.variant_of or "")
        if page_title:
            return self._page_evidence(page_title)
        if nearest is None:
            return None
        sentence = self._title_evidence(finding.title, nearest)
        if sentence is None:
            return None
        # Titles are evidence only if no two listed offers differ in the same way.
        return VariantEvidence(sentence, proves_collapse=True)

    def _page_evidence(self, title: str | None) -> VariantEvidence:
        sentence = Sentence("on the same page as the listed “{title}”", {"title": title})
        return VariantEvidence(sentence, proves_collapse=not self._lists_variants)

    @cached_property
    def _lists_variants(self) -> bool:
        """True if the catalog lists several offers of one page."""
        return any(count > 1 for count in self.listed_counts.values())

    def _shares_page(self, url: str, listed_url: str | None) -> bool:
        return is_same_page(url, listed_url) and url.partition("?")[0] not in self.scripts

    def _title_evidence(self, title: str | None, listed: NearestOffer) -> Sentence | None:
        differences = self._variant_differences(_record(title), _record(listed.title))
        if not differences or differences & self._listed_differences:
            return None
        if _NO_DIFFERENCE in differences:
            return Sentence("has the same title as the listed “{title}”", {"title": listed.title})
        title_words, listed_words = _split_title(title), _split_title(listed.title)
        added = " ".join(word for word in title_words if word not in listed_words)
        removed = " ".join(word for word in listed_words if word not in title_words)
        if not added and not removed:
            # The same words in another order, such as 2 x 500 ml and 500 x 2 ml.
            added, removed = title or "", listed.title or ""
        return _title_difference(listed.title, added, removed)

    def _variant_differences(self, left: Record, right: Record) -> set[str]:
        """Return the differences of two titles; empty if any of them makes another product."""
        if not set(left.words) & set(right.words):
            return set()
        different = {word for word in left.words if word not in right.spellings}
        different |= {word for word in right.words if word not in left.spellings}
        sizes = left.product_kind.sizes | right.product_kind.sizes
        for word in different:
            if not (_unit(word) or word in sizes or word in self._choice_words):
                return set()
        return {_difference(word) for word in different} or {_NO_DIFFERENCE}

    @cached_property
    def _choice_words(self) -> frozenset[str]:
        """Words in which the offers of one page differ: colours, sizes and other choices."""
        choices: set[str] = set()
        for titles in self.titles_on_page.values():
            counts: Counter[str] = Counter()
            for title in titles:
                counts.update(set(_record(title).words))
            choices.update(word for word, count in counts.items() if count < len(titles))
        return frozenset(choices)

    @cached_property
    def _listed_differences(self) -> frozenset[str]:
        """Differences between two listed offers that could make them variants."""
        listed = [_record(title) for title in self.listed_titles]
        with_choice = [record for record in listed if any(map(self._is_choice, record.words))]
        differences = {_difference(word) for word in learn_variant_words(with_choice).words}
        has_equal_titles = len({record.title for record in listed}) < len(listed)
        if has_equal_titles:
            differences.add(_NO_DIFFERENCE)
        return frozenset(differences)

    def _is_choice(self, word: str) -> bool:
        return _difference(word) != word or word in self._choice_words


def _record(title: str | None) -> Record:
    return Record(title=fold(title))


def _difference(word: str) -> str:
    """Name the kind of choice a word makes: the unit of an amount, a size, or the word itself."""
    unit = _unit(word)
    if unit:
        return unit
    if detect_product_kind(("", word)).sizes:
        return _SIZE
    return word


def _unit(word: str) -> str | None:
    return next(iter(extract_quantities((word,))), None)


def is_same_page(url: str, other_url: str | None) -> bool:
    """Return True if two URLs differ in their parameters only.

    >>> is_same_page("http://a.example/p/1?size=m", "http://a.example/p/1?size=s")
    True
    """
    parts, other_parts = urlsplit(url), urlsplit(other_url or "")
    if url == other_url or parts.path.strip("/") == "":
        return False
    return (parts.netloc, parts.path) == (other_parts.netloc, other_parts.path)


def _share_half_of_words(title: str, other_title: str) -> bool:
    """Return True if the titles share half of the words of the longer one, as variants do."""
    first_words, second_words = set(_split_title(title)), set(_split_title(other_title))
    return 2 * len(first_words & second_words) >= max(len(first_words), len(second_words))


def _title_difference(title: str | None, added: str, removed: str) -> Sentence:
    arguments = {"title": title, "added": added, "removed": removed}
    if not removed:
        del arguments["removed"]
        return Sentence(
            "differs from the listed “{title}” only by the additional “{added}”", arguments
        )
    if not added:
        del arguments["added"]
        return Sentence("differs from the listed “{title}” only by lacking “{removed}”", arguments)
    return Sentence(
        "differs from the listed “{title}” only by “{added}” instead of “{removed}”", arguments
    )


def _split_title(title: str | None) -> list[str]:
    """Return the words of a title; a decimal number is one word.

    >>> _split_title("Juice, 0,75 l")
    ['juice', '0,75', 'l']
    """
    return re.findall(r"\d+(?:[.,]\d+)+|\w+", (title or "").casefold())
