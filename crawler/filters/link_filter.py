"""Which links of a page become pages of the crawl, in which order.

Every link is cleaned, compared with what is known already, and asked whether it is a detour or leads into a trap. Only
then it becomes a row of the page table; what is refused is counted by reason, for a row per refused link could grow
without end. The likeliest offers go first: addresses like those of known offers, then a list's further pages.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

from catalog.models import Page, PageState
from catalog.storage.frontier import DEAD, SAME_PAGE, SESSION, WRONG, Link, Outcome
from crawler.filters.dead_links import LAST, SPREAD, DeadKinds
from crawler.filters.near_duplicates import REASON, Alike
from crawler.filters.traps import Traps, chain
from crawler.pages.page_digest import Digest
from crawler.urls.canonical_rules import Rewrites, Way
from crawler.urls.rule_verification import Doubts, Original
from crawler.urls.session_ids import Sessions, bare_key
from crawler.urls.site import FORGET, Site
from crawler.urls.url_shape import Address

MOST_DEPTH = 60
MOST_REFUSED = 500_000
PRIORITY = {
    "root": 100,
    "known": 90,
    "canonical": 60,
    "redirect": 55,
    "sitemap": 50,
    "link": 30,
    "alternate": 5,
}
LIKE_KNOWN = 15
TURNS = 8
FILTER = -25
FILTERS = -35
DETOUR = -20


@dataclass(frozen=True)
class Place:
    """Where a page stands in the crawl: what its links inherit."""

    address: Address
    depth: int = 0
    chain: int = 0


@dataclass(frozen=True)
class Sifted:
    """What a page brings: its canonical address and the links that are new."""

    canonical: str | None
    links: tuple[Link, ...]


class Sieve:
    """What one crawl knows of its shop's addresses. It is rebuilt from the page table when a crawl goes on."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._address = lru_cache(FORGET)(Address)
        self.refused: Counter[str] = Counter()
        self._refused: set[int] = set()
        self.traps, self._alike = Traps(), Alike()
        self._rewrites = Rewrites()
        self._known: set[int] = set()
        self._linked: set[int] = set()
        self._gone: set[int] = set()
        self._like_known: Counter[str] = Counter()
        self._doubts, self._dead, self._sessions = Doubts(), DeadKinds(), Sessions()
        self._handed_out: set[int] = set()

    def remember(self, url: str, source: str, gone: bool = False) -> None:
        """A page that the table has already."""
        if gone:
            self._gone.add(self._number(Address(url)))
        number = self._number(Address(url))
        self._known.add(number)
        if source == "link":
            self._linked.add(number)
        if source == "known":
            self._like_known[_folder(Address(url))] += 1
            self.traps.vouch(Address(url))
            self._sessions.refute(Address(url))

    def was_there(self, url: str) -> None:
        """A page that an earlier crawl has fetched: its kind is not dead."""
        self._dead.there(Address(url))

    def replaced(self, original: Original, by: str) -> None:
        """A page that a rule of the killed crawl had replaced: it is due again where the other is missing."""
        self._doubts.replaced(original, by)

    def seed(self, urls: Iterable[str], source: str) -> list[Link]:
        """Links from outside of any page: the root, known offers, sitemaps."""
        links = []
        for url in urls:
            found = self.site.locate(url) if source in ("root", "known") else self.site.read(url)
            if isinstance(found, str):
                self._refuse(found, url)
            elif (link := self._admit(found, source, 0, 0)) is not None:
                links.append(link)
                self.remember(link.url, source)
        return links

    def sift(self, at: Place, found: Digest) -> Sifted:
        """The links of a fetched page that are to be visited, and its canonical address."""
        links = self._addresses(found.links)
        for href, reason in found.refused:
            self._refuse(reason, href)
        self._sessions.observe(at.address, links)
        for link in links:
            if link.query:
                self.traps.saw(link)
        numbers = [self._number(link) for link in links]
        fresh = any(
            self._is_fresh(link, number, at.address)
            for link, number in zip(links, numbers, strict=True)
        )
        offer = self.traps.looks_like_offer(found.marks)
        fruitful = offer or fresh
        self._alike.saw(self._number(at.address), found.title, offer=offer)
        self._linked.update(numbers)
        self.traps.fetched(at.address, fruitful, fresh)
        canonical = self._address(found.canonical) if found.canonical else None
        self._rewrites.observe(at.address, canonical, found.title, fresh)
        new = [self._canonical_link(at, canonical)] if canonical else []
        for link, number in zip(links, numbers, strict=True):
            if number not in self._known:
                self._alike.led(number, found.title)
                new.append(
                    self._admit(
                        link, "link", at.depth + 1, chain(at.address, at.chain, fruitful, link)
                    )
                )
        for link in self._addresses(found.alternates):
            new.append(self._admit(link, "alternate", at.depth + 1, at.chain))
        return Sifted(found.canonical, tuple(link for link in new if link))

    def twin(self, address: Address, other: str, title: str) -> None:
        """A page of the very bytes of another: it brings no link, but it shows where such pages are kept."""
        kept = self.site.read(other)
        self._rewrites.observe(address, kept if isinstance(kept, Address) else None, title, False)

    def redirect(self, at: Place, target: str) -> tuple[Address | str, tuple[Link, ...]]:
        """Where a redirect leads (a reason where it must not be followed), and the target as a link where it is new.

        The target is taken as it is: a rule that would lead back to where the redirect came from is no help.
        """
        found = self.site.read(target)
        if isinstance(found, str):
            return found, ()
        if found.key == at.address.key and found.url != at.address.url:
            return found, (
                Link(found.url, "redirect", PRIORITY["redirect"], at.depth + 1, at.chain + 1),
            )
        link = self._admit(found, "redirect", at.depth + 1, at.chain + 1)
        return found, (link,) if link else ()

    def reconsider(self, page: Page) -> list[Outcome]:
        """What becomes of a waiting page by what was learnt since it was found; nothing where it is due."""
        if page.source not in ("link", "alternate", "sitemap"):
            return []
        page_id, address = page.id or 0, Address(page.url)
        if (
            page.attempts < 2
            and self._sessions.holds(address)
            and hash(bare_key(address)) in self._handed_out
        ):
            return [Outcome(page_id, PageState.REFUSED, {"reason": SESSION})]
        if original := self._doubts.recant(page.url):
            due = original.due()
            links, also = ((due,), []) if isinstance(due, Link) else ((), [due])
            return [Outcome(page_id, PageState.REFUSED, {"reason": WRONG}, links), *also]
        found = self._lost_hope(page, address) if page.source == "link" and not page.body else None
        if found:
            return [Outcome(page_id, *found)]
        kept, way, known = self._kept_as(address)
        if kept.key == address.key or way in self._doubts.guilty:
            self._handed_out.add(hash(bare_key(address)))
            return []
        links = () if known else (self._keep(address, kept, page.source, page.depth, page.chain),)
        self._doubts.replaced(Original(page.url, way, page.id), kept.url)
        return [
            Outcome(page_id, PageState.REFUSED, {"reason": SAME_PAGE, "canonical": kept.url}, links)
        ]

    def _number(self, address: Address) -> int:
        return hash(self._sessions.key(address) if self._sessions.held else address.key)

    def _lost_hope(self, page: Page, address: Address) -> tuple[PageState, dict[str, Any]] | None:
        """A link into a closed trap or of a dead kind; one that seems so waits until all else is done, in no order."""
        if reason := self.traps.closed(address):
            return PageState.REFUSED, {"reason": reason}
        if self._dead.is_dead(address):
            return PageState.REFUSED, {"reason": DEAD}
        number, promises = (
            self._number(address),
            address.turns_page or self._like_known[_folder(address)],
        )
        if not promises and self._alike.is_trap(number):
            return PageState.REFUSED, {"reason": REASON}
        waits = self._dead.can_wait(address) or (not promises and self._alike.can_wait(number))
        if waits and page.priority > LAST:
            return PageState.PENDING, {
                "priority": LAST - crc32(page.url.encode()) % SPREAD,
                "attempts": 0,
            }
        return None

    def there(self, url: str) -> list[Original]:
        """A page was there; gives links that were left out by a rule that this proves wrong."""
        self._dead.there(Address(url))
        again = self._doubts.there(url)
        for way in self._doubts.guilty:
            self._rewrites.refute(way)
        return again

    def missing(self, url: str, dead: bool = False) -> list[Original]:
        """A page was not there; gives the links that only a rule had replaced by it.

        `dead` says that a link led to an error: a page that merely reads like a missing one speaks for no other.
        """
        self._gone.add(self._number(Address(url)))
        if dead:
            self._dead.missing(Address(url))
        return self._doubts.missing(url)

    def sent_away(self, url: str, target: Address) -> list[Original]:
        """A page leads to another; gives the links that only a rule had replaced by it, where that says it is missing.

        Many shops send whom they have no page for to their front page; and who is sent back to the link itself is no
        wiser either.
        """
        away = target.key == self._address(self.site.root).key or self._doubts.stands_for(
            url, target.url
        )
        return self._doubts.missing(url) if away else []

    def _addresses(self, urls: Iterable[str]) -> list[Address]:
        once: dict[str, Address] = {}
        for url in urls:
            address = self._address(url)
            once.setdefault(address.key, address)
        return list(once.values())

    def _canonical_link(self, at: Place, canonical: Address) -> Link | None:
        """The canonical address as a link, unless it is known to show what has just been fetched."""
        if self._rewrites.says(at.address, canonical):
            self._known.add(self._number(canonical))
            return None
        return self._admit(canonical, "canonical", at.depth + 1, at.chain)

    def _is_fresh(self, link: Address, number: int, page: Address) -> bool:
        """Whether a link is the page's own find: of another kind, on no page before, and no mere view of a list."""
        if number in self._linked or link.shape == page.shape:
            return False
        return not link.is_kin(page) and not self.traps.filters(link)

    def _refuse(self, reason: str, link: str) -> None:
        """Count a refused link once, however many pages hold it."""
        number = hash(link)
        if number not in self._refused and len(self._refused) < MOST_REFUSED:
            self._refused.add(number)
            self.refused[reason] += 1

    def _admit(self, address: Address, source: str, depth: int, hops: int) -> Link | None:
        if self._number(address) in self._known:
            return None
        kept, way, known = self._kept_as(address)
        if known:
            self._known.add(self._number(address))
            self._refuse(SAME_PAGE, address.url)
            return None
        reason = self.traps.refuses(kept, hops) if source not in ("root", "known") else None
        reason = reason or ("too many hops" if depth > MOST_DEPTH else None)
        if reason:
            self._refuse(reason, kept.url)
            return None
        if kept.key != address.key:
            self._doubts.replaced(Original(address.url, way), kept.url)
        return self._keep(address, kept, source, depth, hops)

    def _keep(self, address: Address, kept: Address, source: str, depth: int, hops: int) -> Link:
        self._known.update((self._number(address), self._number(kept)))
        return Link(kept.url, source, self._priority(kept, source), depth, hops)

    def _kept_as(self, address: Address) -> tuple[Address, Way, bool]:
        """Under which address a page is kept, by which rule, and whether it is known there; itself where it is open."""
        found = self._rewrites.kept(address)
        there = [other for other in found.addresses if self._number(other) not in self._gone]
        for other in there:
            if other.key != address.key and self._number(other) in self._known:
                return other, found.way, True
        if not there and self._doubts.trusts(found.way):
            return found.addresses[0], found.way, True
        return (there[0] if len(found.addresses) == len(there) == 1 else address), found.way, False

    def _view(self, address: Address) -> int:
        return FILTER if self.traps.filters_once(address) else FILTERS

    def _priority(self, address: Address, source: str) -> int:
        score = PRIORITY[source]
        if source in ("root", "known"):
            return score
        score += LIKE_KNOWN if self._like_known[_folder(address)] else 0
        score += (
            self._view(address)
            if self.traps.filters(address)
            else TURNS
            if address.turns_page
            else 0
        )
        return score + (DETOUR if self._rewrites.detours(address) else 0)


def _folder(address: Address) -> str:
    return address.parts.path.rpartition("/")[0]
