"""Variants: which missing offers are only another size, colour or amount of a listed one.

That two titles are nearly the same does not make it so: the key blanks AR-1 and AB-1 are two products. An offer is a
variant where a listed one shares its page; or where its title differs from the listed one's in nothing but sizes,
amounts, and words by which the shop's pages tell the offers apart that they keep together - unless two listed offers
differ in just that way, for then the feed has a row for each.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from matcher.features.variant_words import learn_variants
from matcher.records.product_kinds import kinds
from matcher.records.record import Record
from matcher.records.text import fold
from matcher.records.units import quantities
from reports.statistics.findings_reader import Finding, Nearest

_SAME = "the same title"
_SIZE = "a size"


@dataclass
class Siblings:
    """What a run's offers say of variants: listed titles, of which page one is listed, and the titles that pages keep.

    `listed_ids` are the catalog offers that are listed already. `titles_at` has the first listed title of each address
    that takes parameters, and `scripts` those addresses that show different products, as `/index.php` does.
    """

    listed_ids: set[int] = field(default_factory=set)
    titles: list[str] = field(default_factory=list)
    listed_on: dict[str, str] = field(default_factory=dict)
    kept_on: dict[str, list[str]] = field(default_factory=dict)
    titles_at: dict[str, str] = field(default_factory=dict)
    scripts: set[str] = field(default_factory=set)

    def add(self, finding: Finding) -> None:
        """Take in an offer of the shop."""
        if finding.variant_of and finding.title:
            self.kept_on.setdefault(finding.variant_of, []).append(finding.title)

    def add_listed(self, finding: Finding) -> None:
        """Take in that the catalog lists it."""
        if finding.known_id is not None:
            self.listed_ids.add(finding.known_id)
        title = (finding.nearest and finding.nearest.title) or finding.title
        if title:
            self.titles.append(title)
            address, _, asked = finding.url.partition("?")
            if asked and not _alike(title, self.titles_at.setdefault(address, title)):
                self.scripts.add(address)
            if finding.variant_of:
                self.listed_on.setdefault(finding.variant_of, title)

    def evidence(self, finding: Finding) -> str | None:
        """What makes a missing offer a variant of a listed one; None where nothing does."""
        near = finding.nearest
        listed = near if near and finding.known_id in self.listed_ids else None
        if (
            listed
            and same_page(finding.url, listed.url)
            and finding.url.partition("?")[0] not in self.scripts
        ):
            return f"on the same page as the listed “{listed.title}”"
        if shared := self.listed_on.get(finding.variant_of or ""):
            return f"on the same page as the listed “{shared}”"
        return self._told_by_title(finding.title, listed) if listed else None

    def _told_by_title(self, title: str | None, listed: Nearest) -> str | None:
        ways = self._ways(_record(title), _record(listed.title))
        if not ways or ways & self._sent:
            return None
        if _SAME in ways:
            return f"has the same title as the listed “{listed.title}”"
        here, there = _words(title), _words(listed.title)
        ours, theirs = (
            [word for word in here if word not in there],
            [word for word in there if word not in here],
        )
        return f"differs from the listed “{listed.title}” only in {_quoted(ours)} for {_quoted(theirs)}"

    def _ways(self, one: Record, other: Record) -> set[str]:
        """In what two titles differ; empty where it is (also) in something that makes another product."""
        if not set(one.words) & set(other.words):
            return set()
        apart = {word for word in one.words if word not in other.spellings}
        apart |= {word for word in other.words if word not in one.spellings}
        sizes = one.kinds.sizes | other.kinds.sizes
        told = all(_unit(word) or word in sizes or word in self._choices for word in apart)
        return {_way(word) for word in apart} or {_SAME} if told else set()

    @cached_property
    def _choices(self) -> frozenset[str]:
        """The words by which the offers of one page differ: colours, sizes, scents, whatever the shop lets choose."""
        found: set[str] = set()
        for titles in self.kept_on.values():
            counts = Counter(word for title in titles for word in set(_record(title).words))
            found.update(word for word, count in counts.items() if count < len(titles))
        return frozenset(found)

    @cached_property
    def _sent(self) -> frozenset[str]:
        """The ways in which two listed offers differ, of those that can make a variant."""
        listed = list(map(_record, self.titles))
        same = {_SAME} if len({one.title for one in listed}) < len(listed) else set()
        choosing = [
            one
            for one in listed
            if any(_way(word) != word or word in self._choices for word in one.words)
        ]
        return frozenset(map(_way, learn_variants(choosing).words)) | same


def _record(title: str | None) -> Record:
    return Record(title=fold(title))


def _way(word: str) -> str:
    """What a word chooses: an amount of a unit, a size, or itself."""
    return _unit(word) or (_SIZE if kinds(("", word)).sizes else word)


def _unit(word: str) -> str | None:
    return next(iter(quantities((word,))), None)


def same_page(url: str, other: str | None) -> bool:
    """Whether two URLs differ, but only in their parameters.

    >>> same_page("http://a.example/p/1?size=m", "http://a.example/p/1?size=s")
    True
    """
    one, two = urlsplit(url), urlsplit(other or "")
    return (
        url != other
        and (one.netloc, one.path) == (two.netloc, two.path)
        and one.path.strip("/") != ""
    )


def _alike(title: str, other: str) -> bool:
    """Whether half of the words of the longer title are in the other, as of two variants of one product."""
    one, two = set(_words(title)), set(_words(other))
    return 2 * len(one & two) >= max(len(one), len(two))


def _quoted(words: Sequence[str]) -> str:
    return f"“{' '.join(words)}”" if words else "nothing"


def _words(title: str | None) -> list[str]:
    return re.findall(r"\w+", (title or "").casefold())
