"""Link filter: decides which links are admitted to the crawl frontier, and their priority.

Each link is compared with the known pages, replaced by its canonical address where a rule gives
one, and checked for traps. Only admitted links become rows of the page table; refused links are
counted by reason, because a row for each could grow without end. Likely offers come first:
addresses like those of known offers, then further pages of lists.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from catalog.models import Page, PageState
from catalog.storage.frontier import (
    DEAD_LINK,
    SAME_AS_CANONICAL,
    SAME_IN_OTHER_SESSION,
    WRONG_CANONICAL,
    FetchOutcome,
    FrontierLink,
)
from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.filters.dead_links import LAST_PRIORITY, PRIORITY_SPREAD, DeadLinkFilter
from crawler.filters.near_duplicates import TRAP_REASON, NearDuplicateFilter
from crawler.filters.traps import TrapFilter, count_barren_hops
from crawler.pages.page_digest import PageDigest
from crawler.urls.canonical_rules import CanonicalRules, RuleKey
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.rule_verification import ReplacedLink, RuleVerifier
from crawler.urls.session_ids import SessionIdDetector, key_without_tokens
from crawler.urls.site import CACHE_SIZE, Site

MAX_DEPTH = 60  # hops from a seed; bound against chains that no other rule stops
MAX_REFUSED = 500_000  # refused links counted once each; bound: memory
# Base priorities by source: the more likely a source leads to offers, the sooner it is fetched.
PRIORITY = {
    "root": 100,
    "known": 90,
    "canonical": 60,
    "redirect": 55,
    "sitemap": 50,
    "link": 30,
    "alternate": 5,
}
TRUSTED_SOURCES = ("root", "known")
RECONSIDERED_SOURCES = ("link", "alternate", "sitemap")
# Added to the base priority.
KNOWN_FOLDER_BONUS = 15  # same folder as a known offer
PAGINATION_BONUS = 8  # a further page of a list
SINGLE_FILTER_PENALTY = -25  # a list by one filter: may hold an offer that nothing else links
FILTERED_LIST_PENALTY = -35  # a list by several filters
DETOUR_PENALTY = -20  # pages of this kind have named another address as canonical


@dataclass(frozen=True)
class CrawlPosition:
    """A page's position in the crawl: hops from a seed, and barren hops in a row."""

    address: CrawlUrl
    depth: int = 0
    barren_hops: int = 0


@dataclass(frozen=True)
class AdmittedLinks:
    """A page's canonical URL and the links it adds to the frontier."""

    canonical: str | None
    links: tuple[FrontierLink, ...]


class _CanonicalChoice(NamedTuple):
    """The address under which a page is stored, its rule, and whether that page is known."""

    address: CrawlUrl
    rule: RuleKey
    is_known: bool


class LinkFilter:
    """Knowledge of one crawl about its shop's addresses.

    A crawl that resumes rebuilds it from the page table.

    `refused` counts the links that never became pages, by reason.
    """

    def __init__(self, site: Site, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self.site = site
        self.refused: Counter[str] = Counter()
        self.traps = TrapFilter(config)
        self._near_duplicates = NearDuplicateFilter(config)
        self._dead_links = DeadLinkFilter(config)
        self._canonical_rules = CanonicalRules(config)
        self._verifier = RuleVerifier(config)
        self._session_ids = SessionIdDetector(config)
        self._address = lru_cache(CACHE_SIZE)(CrawlUrl.parse)
        self._known_folders: Counter[str] = Counter()
        # Hashes instead of texts save memory; a collision, which is rare, costs one page.
        self._refused_hashes: set[int] = set()
        self._known: set[int] = set()
        self._linked: set[int] = set()
        self._gone: set[int] = set()
        self._requested: set[int] = set()

    def remember_page(self, url: str, source: str, is_gone: bool = False) -> None:
        """Note a page that the table has already."""
        address = CrawlUrl.parse(url)
        number = self._hash(address)
        if is_gone:
            self._gone.add(number)
        self._known.add(number)
        if source == "link":
            self._linked.add(number)
        if source == "known":
            self._known_folders[_folder(address)] += 1
            self.traps.exempt(address)
            self._session_ids.refute(address)

    def remember_existing(self, url: str) -> None:
        """Note a page that an earlier crawl has fetched: its link pattern is not dead."""
        self._dead_links.record_existing(self._address(url))

    def remember_replacement(self, original: ReplacedLink, replacement: str) -> None:
        """Note a link that a rule of the interrupted crawl replaced.

        It is tried if its replacement is missing.
        """
        self._verifier.record_replacement(original, replacement)

    def admit_seeds(self, urls: Iterable[str], source: str) -> list[FrontierLink]:
        """Admit URLs that no page links: the root, known offers, sitemap entries."""
        links = []
        for url in urls:
            # The shop's own root and offers are no traps, whatever their names look like.
            checked = self.site.normalize if source in TRUSTED_SOURCES else self.site.check
            address = checked(url)
            if isinstance(address, str):
                self._count_refusal(address, url)
            elif (link := self._admit(address, source, 0, 0)) is not None:
                links.append(link)
                self.remember_page(link.url, source)
        return links

    def admit_links(self, position: CrawlPosition, digest: PageDigest) -> AdmittedLinks:
        """Learn from a fetched page and admit its new links."""
        links = self._addresses(digest.links)
        for href, reason in digest.refused:
            self._count_refusal(reason, href)
        canonical = self._address(digest.canonical) if digest.canonical else None
        is_fruitful = self._observe(position.address, digest, links, canonical)
        admitted: list[FrontierLink | None] = []
        depth = position.depth + 1
        if canonical:
            admitted.append(self._admit_canonical(position, canonical))
        for link in links:
            number = self._hash(link)
            if number in self._known:
                continue
            self._near_duplicates.record_link(number, digest.title)
            hops = count_barren_hops(position.address, position.barren_hops, is_fruitful, link)
            admitted.append(self._admit(link, "link", depth, hops))
        for link in self._addresses(digest.alternates):
            admitted.append(self._admit(link, "alternate", depth, position.barren_hops))
        return AdmittedLinks(digest.canonical, tuple(link for link in admitted if link))

    def record_duplicate(self, address: CrawlUrl, original: str, title: str) -> None:
        """Learn from a page with the same bytes as `original`, which is its canonical address."""
        checked = self.site.check(original)
        canonical = checked if isinstance(checked, CrawlUrl) else None
        self._canonical_rules.observe(address, canonical, title, False)

    def admit_redirect(
        self, position: CrawlPosition, target: str
    ) -> tuple[CrawlUrl | str, tuple[FrontierLink, ...]]:
        """Check a redirect's target; returns its address or a reason, and its link if it is new.

        The target is taken as it is: a rule that maps it back to the redirecting page would make a
        loop.
        """
        address = self.site.check(target)
        if isinstance(address, str):
            return address, ()
        depth, hops = position.depth + 1, position.barren_hops + 1
        if address.page_key == position.address.page_key and address.text != position.address.text:
            # Known by its key, but the shop insists on this spelling.
            return address, (
                FrontierLink(address.text, "redirect", PRIORITY["redirect"], depth, hops),
            )
        link = self._admit(address, "redirect", depth, hops)
        return address, (link,) if link else ()

    def reconsider(self, page: Page) -> list[FetchOutcome]:
        """Settle a pending page by the rules learnt since it was found.

        Returns [] if it is to be fetched.
        """
        if page.source not in RECONSIDERED_SOURCES:
            return []
        page_id, address = page.id or 0, self._address(page.url)
        if self._is_session_duplicate(page, address):
            return [FetchOutcome(page_id, PageState.REFUSED, {"reason": SAME_IN_OTHER_SESSION})]
        if original := self._verifier.restore(page.url):
            return _restored(page_id, original)
        if page.source == "link" and not page.body:
            hopeless = self._refuse_or_postpone(page, address)
            if hopeless:
                return [hopeless]
        canonical = self._choose_canonical(address)
        if (
            canonical.address.page_key == address.page_key
            or canonical.rule in self._verifier.revoked
        ):
            self._requested.add(hash(key_without_tokens(address)))
            return []
        links: tuple[FrontierLink, ...] = ()
        if not canonical.is_known:
            links = (self._link(address, canonical.address, page.source, page.depth, page.chain),)
        replaced = ReplacedLink(page.url, canonical.rule, page.id)
        self._verifier.record_replacement(replaced, canonical.address.text)
        columns = {"reason": SAME_AS_CANONICAL, "canonical": canonical.address.text}
        return [FetchOutcome(page_id, PageState.REFUSED, columns, links)]

    def record_existing(self, url: str) -> list[ReplacedLink]:
        """Note that a page exists; returns replaced links to try because a rule proved wrong."""
        self._dead_links.record_existing(self._address(url))
        to_try = self._verifier.record_existing(url)
        for rule in self._verifier.revoked:
            self._canonical_rules.refute(rule)
        return to_try

    def record_missing(self, url: str, is_dead_link: bool = False) -> list[ReplacedLink]:
        """Note that a page is missing; returns the replaced links to try instead.

        `is_dead_link` if a link led to an error. A soft 404 is no evidence against other links of
        its pattern.
        """
        self._gone.add(self._hash(self._address(url)))
        if is_dead_link:
            self._dead_links.record_missing(self._address(url))
        return self._verifier.record_missing(url)

    def record_redirect(self, url: str, target: CrawlUrl) -> list[ReplacedLink]:
        """Note a redirect; returns the replaced links to try now.

        They are due if it means that the page is missing, or leaves a trial without a verdict.

        Many shops redirect missing pages to their home page. A redirect back to the replaced link
        is no page either.
        """
        is_home = target.page_key == self._address(self.site.root).page_key
        if is_home or self._verifier.is_replacement_of(url, target.text):
            return self._verifier.record_missing(url)
        return self._verifier.record_unresolved(url)

    def record_unresolved(self, url: str) -> list[ReplacedLink]:
        """Note that a page was not served, though it may exist; returns the replaced links to try now."""
        return self._verifier.record_unresolved(url)

    def is_on_trial(self, url: str) -> bool:
        """Return True if a page shows whether a rule has replaced it rightly."""
        return self._verifier.is_on_trial(url)

    def _observe(
        self, page: CrawlUrl, digest: PageDigest, links: list[CrawlUrl], canonical: CrawlUrl | None
    ) -> bool:
        """Let all filters learn from a page; returns True if it is fruitful."""
        self._session_ids.observe(page, links)
        for link in links:
            if link.sorted_query:
                self.traps.observe_link(link)
        hashes = [self._hash(link) for link in links]
        has_new_links = any(
            self._is_new_kind(link, number, page)
            for link, number in zip(links, hashes, strict=True)
        )
        is_offer = self.traps.looks_like_offer(digest.offer_signals)
        is_fruitful = is_offer or has_new_links
        self._near_duplicates.record_page(self._hash(page), digest.title, is_offer=is_offer)
        self._linked.update(hashes)
        self.traps.observe_page(page, is_fruitful, has_new_links)
        self._canonical_rules.observe(page, canonical, digest.title, has_new_links)
        return is_fruitful

    def _hash(self, address: CrawlUrl) -> int:
        if self._session_ids.positions:
            return hash(self._session_ids.key(address))
        return hash(address.page_key)

    def _is_session_duplicate(self, page: Page, address: CrawlUrl) -> bool:
        if page.attempts >= 2 or not self._session_ids.has_session_id(address):
            return False
        return hash(key_without_tokens(address)) in self._requested

    def _refuse_or_postpone(self, page: Page, address: CrawlUrl) -> FetchOutcome | None:
        """Refuse a link into a closed trap or of a dead pattern.

        Postpones a link that may be hopeless; returns None if it is due.
        """
        page_id = page.id or 0
        if reason := self.traps.closed_reason(address):
            return FetchOutcome(page_id, PageState.REFUSED, {"reason": reason})
        if self._dead_links.is_dead(address):
            return FetchOutcome(page_id, PageState.REFUSED, {"reason": DEAD_LINK})
        number = self._hash(address)
        is_promising = address.is_pagination or self._known_folders[_folder(address)] > 0
        if not is_promising and self._near_duplicates.is_trap(number):
            return FetchOutcome(page_id, PageState.REFUSED, {"reason": TRAP_REASON})
        should_wait = self._dead_links.should_wait(address) or (
            not is_promising and self._near_duplicates.should_wait(number)
        )
        if not should_wait or page.priority <= LAST_PRIORITY:
            return None
        # A checksum spreads postponed links, so that neighbours on a page are not fetched together.
        priority = LAST_PRIORITY - crc32(page.url.encode()) % PRIORITY_SPREAD
        return FetchOutcome(page_id, PageState.PENDING, {"priority": priority, "attempts": 0})

    def _addresses(self, urls: Iterable[str]) -> list[CrawlUrl]:
        unique: dict[str, CrawlUrl] = {}
        for url in urls:
            address = self._address(url)
            unique.setdefault(address.page_key, address)
        return list(unique.values())

    def _admit_canonical(self, position: CrawlPosition, canonical: CrawlUrl) -> FrontierLink | None:
        """Admit a canonical address, unless a trusted rule maps the fetched page to it."""
        if self._canonical_rules.explains(position.address, canonical):
            self._known.add(self._hash(canonical))
            return None
        return self._admit(canonical, "canonical", position.depth + 1, position.barren_hops)

    def _is_new_kind(self, link: CrawlUrl, number: int, page: CrawlUrl) -> bool:
        """Return True if a link is new, of another kind than its page, and no view of a list."""
        if number in self._linked or link.shape == page.shape:
            return False
        return not link.is_numeric_variant(page) and not self.traps.is_filtered_list(link)

    def _count_refusal(self, reason: str, link: str) -> None:
        """Count a refused link once, however many pages have it."""
        number = hash(link)
        if number not in self._refused_hashes and len(self._refused_hashes) < MAX_REFUSED:
            self._refused_hashes.add(number)
            self.refused[reason] += 1

    def _admit(self, address: CrawlUrl, source: str, depth: int, hops: int) -> FrontierLink | None:
        if self._hash(address) in self._known:
            return None
        canonical = self._choose_canonical(address)
        if canonical.is_known:
            self._known.add(self._hash(address))
            self._count_refusal(SAME_AS_CANONICAL, address.text)
            return None
        reason = None
        if source not in TRUSTED_SOURCES:
            reason = self.traps.refusal_reason(canonical.address, hops)
        if reason is None and depth > MAX_DEPTH:
            reason = "too many hops"
        if reason:
            self._count_refusal(reason, canonical.address.text)
            return None
        if canonical.address.page_key != address.page_key:
            replaced = ReplacedLink(address.text, canonical.rule)
            self._verifier.record_replacement(replaced, canonical.address.text)
        return self._link(address, canonical.address, source, depth, hops)

    def _link(
        self, address: CrawlUrl, canonical: CrawlUrl, source: str, depth: int, hops: int
    ) -> FrontierLink:
        self._known.update((self._hash(address), self._hash(canonical)))
        return FrontierLink(canonical.text, source, self._priority(canonical, source), depth, hops)

    def _choose_canonical(self, address: CrawlUrl) -> _CanonicalChoice:
        """Choose the address under which a page is stored.

        It is the link itself if the rules leave it open.
        """
        forms = self._canonical_rules.canonical_forms(address)
        existing = [form for form in forms.addresses if self._hash(form) not in self._gone]
        for form in existing:
            if form.page_key != address.page_key and self._hash(form) in self._known:
                return _CanonicalChoice(form, forms.rule, True)
        if not existing and self._verifier.is_verified(forms.rule):
            return _CanonicalChoice(forms.addresses[0], forms.rule, True)
        if len(forms.addresses) == len(existing) == 1:
            return _CanonicalChoice(existing[0], forms.rule, False)
        return _CanonicalChoice(address, forms.rule, False)

    def _priority(self, address: CrawlUrl, source: str) -> int:
        priority = PRIORITY[source]
        if source in TRUSTED_SOURCES:
            return priority
        if self._known_folders[_folder(address)]:
            priority += KNOWN_FOLDER_BONUS
        if self.traps.is_filtered_list(address):
            is_single = self.traps.is_single_filter(address)
            priority += SINGLE_FILTER_PENALTY if is_single else FILTERED_LIST_PENALTY
        elif address.is_pagination:
            priority += PAGINATION_BONUS
        if self._canonical_rules.is_detour(address):
            priority += DETOUR_PENALTY
        return priority


def _restored(page_id: int, original: ReplacedLink) -> list[FetchOutcome]:
    """Refuse the replacement of a revoked rule, and make the original link due."""
    due = original.as_due()
    if isinstance(due, FrontierLink):
        return [FetchOutcome(page_id, PageState.REFUSED, {"reason": WRONG_CANONICAL}, (due,))]
    return [FetchOutcome(page_id, PageState.REFUSED, {"reason": WRONG_CANONICAL}), due]


def _folder(address: CrawlUrl) -> str:
    return address.path.rpartition("/")[0]
