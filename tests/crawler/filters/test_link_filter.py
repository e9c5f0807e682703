"""Rules learnt from pages (canonical rules, their verification, dead links, traps) and their effect on links."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Page
from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.filters.dead_links import DeadLinkFilter
from crawler.filters.link_filter import CrawlPosition, LinkFilter
from crawler.filters.near_duplicates import NearDuplicateFilter
from crawler.filters.traps import TrapFilter
from crawler.pages.page_digest import PageDigest
from crawler.urls import canonical_rules
from crawler.urls.canonical_rules import CanonicalRules
from crawler.urls.crawl_url import CrawlUrl
from crawler.urls.rule_verification import ReplacedLink, RuleVerifier
from crawler.urls.site import Site

HOME = "https://shop.example"
TRIALS = DEFAULT_CONFIG.rule_trials
POSTPONE = DEFAULT_CONFIG.duplicates_to_postpone
REFUSE = DEFAULT_CONFIG.duplicates_to_refuse
BARREN_PAGES = DEFAULT_CONFIG.max_barren_pages


def address(path: str) -> CrawlUrl:
    return CrawlUrl.parse(HOME + path)


def position(path: str) -> CrawlPosition:
    return CrawlPosition(address(path))


def digest(*links: str, **fields: Any) -> PageDigest:
    """A page with links to these paths."""
    return PageDigest(links=tuple(HOME + link for link in links), **fields)


def learnt_rules(pairs: list[tuple[str, str]], has_new_links: bool = False) -> CanonicalRules:
    """Rules learnt from pages and their canonical addresses, both fetched."""
    rules = CanonicalRules()
    for page, canonical in pairs:
        title = f"Title of {canonical}"
        rules.observe(address(canonical), address(canonical), title, False)
        rules.observe(address(page), address(canonical), title, has_new_links)
    return rules


@pytest.mark.parametrize(
    ("page", "canonical", "link", "form"),
    [
        ("/c/x{}/p/h{}", "/p/h{}", "/c/other/p/q", "/p/q"),
        ("/c/x{}/p/h{}.html", "/p/h{}", "/c/other/p/q.html", "/p/q"),
        ("/p/h{}?variant={}", "/p/h{}", "/p/q?variant=9", "/p/q"),
        ("/p/h{}.html", "/p/h{}", "/p/q.html", "/p/q"),
        ("/c/x{}/p/h{}", "/p/h{}", "/c/x/y/q", "/c/x/y/q"),
        ("/c/h{}?page={}", "/c/h{}", "/c/q?page=2", "/c/q?page=2"),
    ],
)
def test_rule_is_learnt(page: str, canonical: str, link: str, form: str) -> None:
    """Five agreeing pages make a rule for links of their kind, and for no others.

    Page numbers are never dropped.
    """
    rules = learnt_rules([(page.format(n, n), canonical.format(n)) for n in "abcde"])
    forms = rules.canonical_forms(address(link)).addresses
    assert [form_url.text for form_url in forms] == [HOME + form]


def test_one_page_refutes_a_rule() -> None:
    """A page of the kind that is its own canonical ends the rule."""
    pairs = [(f"/c/x/p/{n}", f"/p/{n}") for n in "abcde"]
    rules = learnt_rules([*pairs, ("/c/x/p/f", "/c/x/p/f")])
    assert rules.canonical_forms(address("/c/y/p/q")).addresses == (address("/c/y/p/q"),)


def test_other_titles_refute_a_rule() -> None:
    """A rule is not trusted if the canonical address shows another title."""
    rules = CanonicalRules()
    for n in "abcdef":
        rules.observe(address(f"/p/{n}"), address(f"/p/{n}"), "All our bikes", False)
        rules.observe(address(f"/c/x/p/{n}"), address(f"/p/{n}"), f"Helmet model {n}", False)
    assert rules.canonical_forms(address("/c/y/p/q")).addresses == (address("/c/y/p/q"),)


def test_lists_with_one_canonical() -> None:
    """A key whose pages have new links is kept, though all name the first page as canonical."""
    rules = learnt_rules([(f"/list?blatt={n}", "/list") for n in range(9)], has_new_links=True)
    tenth = address("/list?blatt=10")
    assert rules.canonical_forms(tenth).addresses == (tenth,)


def test_wrong_rule_is_revoked() -> None:
    """Postponed links are tried once a rule was wrong.

    A rule that is wrong too often is revoked.
    """
    verifier, rule = RuleVerifier(), ("path", "c")
    numbers = range(TRIALS + 2)
    for number in numbers:
        verifier.record_replacement(ReplacedLink(f"/c/{number}", rule), f"/p/{number}")
    tried = [link.url for number in numbers for link in verifier.record_missing(f"/p/{number}")]
    assert tried == [f"/c/{number}" for number in range(TRIALS)]
    postponed = [link.url for link in verifier.record_existing("/c/0")]
    assert postponed == [f"/c/{TRIALS}", f"/c/{TRIALS + 1}"]
    assert not verifier.revoked
    for number in range(1, DEFAULT_CONFIG.rule_errors):
        verifier.record_existing(f"/c/{number}")
    assert verifier.revoked == {rule}


def test_broken_links_do_not_revoke() -> None:
    """If the original link is missing too, the rule stays, and no more such links are tried."""
    verifier, rule = RuleVerifier(), ("path", "c")
    for number in range(TRIALS + 1):
        verifier.record_replacement(ReplacedLink(f"/c/{number}", rule), f"/p/{number}")
    for number in range(TRIALS):
        verifier.record_missing(f"/p/{number}")
        assert verifier.record_missing(f"/c/{number}") == []
    assert verifier.record_missing(f"/p/{TRIALS}") == []
    assert verifier.is_verified(rule)


def test_a_trial_without_a_verdict_makes_room() -> None:
    """A rule stays open to trial however many originals fail; each link that waits is tried once."""
    verifier, rule = RuleVerifier(), ("path", "c")
    numbers = range(TRIALS + 2)
    for number in numbers:
        verifier.record_replacement(ReplacedLink(f"/c/{number}", rule), f"/p/{number}")
        verifier.record_missing(f"/p/{number}")
    tried = [link.url for number in numbers for link in verifier.record_unresolved(f"/c/{number}")]
    assert tried == [f"/c/{TRIALS}", f"/c/{TRIALS + 1}"]
    assert not any(verifier.is_on_trial(f"/c/{number}") for number in numbers)
    assert not verifier.is_verified(rule)
    assert verifier.record_unresolved("/c/none") == []


def test_titles_that_wait_for_their_canonical_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that name one canonical address, which is never fetched, do not fill the memory."""
    monkeypatch.setattr(canonical_rules, "MAX_TITLES", 20)
    rules = CanonicalRules()
    for number in range(200):
        rules.observe(address(f"/p?k={number}"), address("/p"), f"Title {number}" * 100, False)
    assert sum(map(len, rules._expected.values())) == 20
    rules.observe(address("/p"), address("/p"), "Title", False)
    rules.observe(address("/q?k=1"), address("/q"), "Title", False)
    assert sum(map(len, rules._expected.values())) == 1


def test_dead_links() -> None:
    """A link pattern is dead after enough missing links, and alive for good after one that exists."""
    dead_links = DeadLinkFilter()
    for number in range(DEFAULT_CONFIG.dead_links_to_refuse):
        dead_links.record_missing(address(f"/c/word-{number}"))
    assert dead_links.is_dead(address("/c/another"))
    assert not dead_links.is_dead(address("/c/another.html"))
    dead_links.record_existing(address("/c/real"))
    assert not dead_links.is_dead(address("/c/another"))


def near_duplicates(pages: int, last: str, is_offer: bool = False) -> NearDuplicateFilter:
    """Pages of one title that lead to so many near-duplicates, and to a last page."""
    duplicates = NearDuplicateFilter()
    for number in range(REFUSE + 3):
        duplicates.record_link(number, "Our story")
    for number in range(pages):
        duplicates.record_page(number, "Our story", is_offer=False)
    duplicates.record_page(pages, last, is_offer=is_offer)
    return duplicates


@pytest.mark.parametrize(
    ("pages", "last", "is_offer", "should_wait", "is_trap"),
    [
        (REFUSE, "Our story", False, True, True),
        (POSTPONE, "Our story", False, True, False),
        (POSTPONE - 2, "Our story", False, False, False),
        (REFUSE, "Lamps", False, False, False),
        (REFUSE, "Our story", True, False, False),
    ],
)
def test_near_duplicates(
    pages: int, last: str, is_offer: bool, should_wait: bool, is_trap: bool
) -> None:
    """Links behind near-duplicates are postponed, then refused.

    Another title restarts, an offer clears the count.
    """
    duplicates = near_duplicates(pages, last, is_offer)
    link = REFUSE + 2
    assert (duplicates.should_wait(link), duplicates.is_trap(link)) == (should_wait, is_trap)
    assert not duplicates.should_wait(-1)


def observe_barren(traps: TrapFilter, path: str, pages: int) -> None:
    for n in range(pages):
        traps.observe_page(address(path.format(n)), False, False)


def test_barren_family_is_closed() -> None:
    """Barren pages that differ in numbers are closed together, days with their months."""
    traps = TrapFilter()
    observe_barren(traps, "/cal/2026/{}", BARREN_PAGES // 2)
    assert traps.closed_reason(address("/cal/2027/1")) is None
    observe_barren(traps, "/cal/2026/1/{}", BARREN_PAGES // 2)
    assert traps.closed_reason(address("/cal/2027/1")) == "trap: endless /cal/"
    assert traps.closed_reason(address("/cal/opening-hours")) is None


def test_thresholds_are_configurable() -> None:
    """A filter decides by the thresholds of its configuration."""
    traps = TrapFilter(CrawlConfig(max_barren_pages=10, min_same_shape=10))
    observe_barren(traps, "/cal/2026/{}", 10)
    assert traps.closed_reason(address("/cal/2027/1")) == "trap: endless /cal/"


def test_known_offers_are_exempt() -> None:
    """The family of a known offer is never closed, nor cut as a chain."""
    traps = TrapFilter()
    traps.exempt(address("/p/1"))
    observe_barren(traps, "/p/{}", BARREN_PAGES * 2)
    hops = DEFAULT_CONFIG.max_barren_chain + 5
    assert traps.refusal_reason(address("/p/999"), hops) is None


def test_barren_views_are_cut() -> None:
    """Sorted and filtered views of a list are cut once they stop bringing links.

    The list's pages are not.
    """
    traps = TrapFilter()
    for n in range(DEFAULT_CONFIG.max_barren_views):
        traps.observe_page(address(f"/list?color=c{n}&sort=price"), True, False)
    view = address("/list?color=red&size=1")
    assert traps.refusal_reason(view, 0) == "trap: list filtered endlessly /list"
    assert traps.refusal_reason(address("/list?page=7"), 0) is None
    assert traps.refusal_reason(address("/index.php?product=5"), 0) is None


def test_single_filters_are_judged_for_the_whole_shop() -> None:
    """A list's single filters are refused once many were barren in any list.

    One that is not clears them.
    """
    traps = TrapFilter()
    for number in range(BARREN_PAGES):
        assert traps.refusal_reason(address(f"/new-list?color={number}"), 0) is None
        traps.observe_page(address(f"/list-{number}?color=red"), False, False)
    view = address("/new-list?color=red")
    assert traps.refusal_reason(view, 0) == "trap: list filtered endlessly /new-list"
    traps.observe_page(address("/list?size=5"), True, True)
    assert traps.refusal_reason(view, 0) is None


def test_keys_that_occur_alone_combine_to_filters() -> None:
    """Unknown keys that occur one by one are filters when they occur together.

    An id with a kind is not.
    """
    traps = TrapFilter()
    for link in ("/list?fit=a", "/list?sole=b", "/index.php?kind=p&id=5", "/index.php?kind=c&id=6"):
        traps.observe_link(address(link))
    assert traps.is_filtered_list(address("/list?fit=a&sole=b"))
    assert not traps.is_filtered_list(address("/index.php?kind=p&id=7"))


def test_priorities() -> None:
    """Links like known offers come first, a list's pages next, its sorted views last."""
    link_filter = LinkFilter(Site(HOME + "/"))
    link_filter.admit_seeds([f"{HOME}/p/known-{n}" for n in "abc"], "known")
    page = digest("/list?sort=price", "/list?page=2", "/about", "/p/new", title="Shop")
    links = link_filter.admit_links(position("/"), page).links
    ordered = sorted(links, key=lambda link: -link.priority)
    assert [link.url.removeprefix(HOME) for link in ordered] == [
        "/p/new",
        "/list?page=2",
        "/about",
        "/list?sort=price",
    ]


def test_each_link_once() -> None:
    """A known page is not admitted again, however its parameters are ordered."""
    link_filter = LinkFilter(Site(HOME + "/"))
    first = digest("/x?a=1&b=2", title="One")
    second = digest("/x?b=2&a=1", "/x?a=1&b=2", title="Two")
    assert len(link_filter.admit_links(position("/"), first).links) == 1
    assert link_filter.admit_links(position("/y"), second).links == ()


def test_pending_pages_are_reconsidered() -> None:
    """A page that was pending while a rule was learnt is settled by the rule, without a request."""
    link_filter = LinkFilter(Site(HOME + "/"))
    for n in "abcde":
        page = digest(title=f"Bike {n}", canonical=f"{HOME}/p/{n}")
        link_filter.admit_links(position(f"/p/{n}"), page)
        link_filter.admit_links(position(f"/c/x/p/{n}"), page)
    (outcome,) = link_filter.reconsider(Page(id=7, shop_id=1, url=HOME + "/c/y/p/q"))
    assert (outcome.page_id, outcome.columns["canonical"]) == (7, HOME + "/p/q")
    assert [link.url for link in outcome.links] == [HOME + "/p/q"]


@given(st.lists(st.integers(0, 30), max_size=60))
def test_no_url_is_admitted_twice(numbers: list[int]) -> None:
    """No link is admitted a second time, in whatever order pages come."""
    link_filter = LinkFilter(Site(HOME + "/"))
    urls: list[str] = []
    for number in numbers:
        page = digest(*(f"/p/{n}" for n in range(number, number + 5)), title="P", offer_signals=2)
        links = link_filter.admit_links(position(f"/p/{number}"), page).links
        urls += [link.url for link in links]
    assert len(urls) == len(set(urls))
