"""What is learnt from pages: canonical rules, second tries, dead kinds, traps; and what becomes of links by it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import Page
from crawler.filters.dead_links import REFUSE, DeadKinds
from crawler.filters.link_filter import Place, Sieve
from crawler.filters.near_duplicates import REFUSE as REFUSE_ALIKE
from crawler.filters.near_duplicates import WAIT, Alike
from crawler.filters.traps import BARREN_FILTERS, BARREN_PAGES, LONGEST_CHAIN, Traps
from crawler.pages.page_digest import Digest
from crawler.urls.canonical_rules import Rewrites
from crawler.urls.rule_verification import ASTRAY, TRIES, Doubts, Original
from crawler.urls.site import Site
from crawler.urls.url_shape import Address

HOME = "https://shop.example"


def at(path: str) -> Address:
    return Address(HOME + path)


def digest(*links: str, **words: Any) -> Digest:
    """A page with links to these paths."""
    return Digest(links=tuple(HOME + link for link in links), **words)


def taught(pairs: list[tuple[str, str]], brought_new: bool = False) -> Rewrites:
    """Rules learnt from pages and their canonical addresses, both looked at."""
    rules = Rewrites()
    for page, canonical in pairs:
        rules.observe(at(canonical), at(canonical), f"Title of {canonical}", False)
        rules.observe(at(page), at(canonical), f"Title of {canonical}", brought_new)
    return rules


@pytest.mark.parametrize(
    ("page", "canonical", "link", "kept"),
    [
        ("/c/x{}/p/h{}", "/p/h{}", "/c/other/p/q", "/p/q"),
        ("/c/x{}/p/h{}.html", "/p/h{}", "/c/other/p/q.html", "/p/q"),
        ("/p/h{}?variant={}", "/p/h{}", "/p/q?variant=9", "/p/q"),
        ("/p/h{}.html", "/p/h{}", "/p/q.html", "/p/q"),
        ("/c/x{}/p/h{}", "/p/h{}", "/c/x/y/q", "/c/x/y/q"),
        ("/c/h{}?page={}", "/c/h{}", "/c/q?page=2", "/c/q?page=2"),
    ],
)
def test_rule_is_learnt(page: str, canonical: str, link: str, kept: str) -> None:
    """Five agreeing pages make a rule for links of their kind, and for no others; further pages are never dropped."""
    rules = taught([(page.format(n, n), canonical.format(n)) for n in "abcde"])
    assert [address.url for address in rules.kept(at(link)).addresses] == [HOME + kept]


def test_one_page_refutes_a_rule() -> None:
    """A page of the kind that is its own canonical ends the rule."""
    pairs = [(f"/c/x/p/{n}", f"/p/{n}") for n in "abcde"]
    assert taught([*pairs, ("/c/x/p/f", "/c/x/p/f")]).kept(at("/c/y/p/q")).addresses == (
        at("/c/y/p/q"),
    )


def test_other_titles_refute_a_rule() -> None:
    """Where the canonical address shows something else, the rule is not believed."""
    rules = Rewrites()
    for n in "abcdef":
        rules.observe(at(f"/p/{n}"), at(f"/p/{n}"), "All our bikes", False)
        rules.observe(at(f"/c/x/p/{n}"), at(f"/p/{n}"), f"Helmet model {n}", False)
    assert rules.kept(at("/c/y/p/q")).addresses == (at("/c/y/p/q"),)


def test_lists_with_one_canonical() -> None:
    """A key whose pages bring new links is kept, though all name the first page as canonical."""
    rules = taught([(f"/list?blatt={n}", "/list") for n in range(9)], brought_new=True)
    assert rules.kept(at("/list?blatt=10")).addresses == (at("/list?blatt=10"),)


def test_wrong_rule_is_given_up() -> None:
    """Links held back are tried once one is there after all; a rule that leads astray too often is given up."""
    doubts, way = Doubts(), ("path", "c")
    for number in range(TRIES + 2):
        doubts.replaced(Original(f"/c/{number}", way), f"/p/{number}")
    tried = [
        original.url for number in range(TRIES + 2) for original in doubts.missing(f"/p/{number}")
    ]
    assert tried == [f"/c/{number}" for number in range(TRIES)]
    assert [original.url for original in doubts.there("/c/0")] == [f"/c/{TRIES}", f"/c/{TRIES + 1}"]
    assert not doubts.guilty
    for number in range(1, ASTRAY):
        doubts.there(f"/c/{number}")
    assert doubts.guilty == {way}


def test_broken_links_do_not_convict() -> None:
    """Where the link itself is missing too, the rule stays, and no more such links are tried."""
    doubts, way = Doubts(), ("path", "c")
    for number in range(TRIES + 1):
        doubts.replaced(Original(f"/c/{number}", way), f"/p/{number}")
    for number in range(TRIES):
        doubts.missing(f"/p/{number}")
        assert doubts.missing(f"/c/{number}") == []
    assert doubts.missing(f"/p/{TRIES}") == []
    assert doubts.trusts(way)


def test_dead_kinds() -> None:
    """A kind of link is dead after enough missing ones, and alive for ever after one that was there."""
    dead = DeadKinds()
    for number in range(REFUSE):
        dead.missing(at(f"/c/word-{number}"))
    assert dead.is_dead(at("/c/another"))
    assert not dead.is_dead(at("/c/another.html"))
    dead.there(at("/c/real"))
    assert not dead.is_dead(at("/c/another"))


def alike(pages: int, last: str, offer: bool = False) -> Alike:
    """Pages of one title that lead to so many of their like, and to a last one."""
    made = Alike()
    for number in range(REFUSE_ALIKE + 3):
        made.led(number, "Our story")
    for number in range(pages):
        made.saw(number, "Our story", offer=False)
    made.saw(pages, last, offer=offer)
    return made


@pytest.mark.parametrize(
    ("pages", "last", "offer", "waits", "trap"),
    [
        (REFUSE_ALIKE, "Our story", False, True, True),
        (WAIT, "Our story", False, True, False),
        (WAIT - 2, "Our story", False, False, False),
        (REFUSE_ALIKE, "Lamps", False, False, False),
        (REFUSE_ALIKE, "Our story", True, False, False),
    ],
)
def test_pages_alike(pages: int, last: str, offer: bool, waits: bool, trap: bool) -> None:
    """What leads to its like for long waits, then is given up; another page starts anew, an offer clears it."""
    made = alike(pages, last, offer)
    assert (made.can_wait(REFUSE_ALIKE + 2), made.is_trap(REFUSE_ALIKE + 2)) == (waits, trap)
    assert not made.can_wait(-1)


def barren(traps: Traps, path: str, number: int) -> None:
    for n in range(number):
        traps.fetched(at(path.format(n)), False, False)


def test_barren_family_is_closed() -> None:
    """Pages that differ in numbers and bring nothing are closed together, days with their months."""
    traps = Traps()
    barren(traps, "/cal/2026/{}", BARREN_PAGES // 2)
    assert traps.closed(at("/cal/2027/1")) is None
    barren(traps, "/cal/2026/1/{}", BARREN_PAGES // 2)
    assert traps.closed(at("/cal/2027/1")) == "trap: endless /cal/"
    assert traps.closed(at("/cal/opening-hours")) is None


def test_known_offers_vouch() -> None:
    """The family of a known offer is never closed, nor cut as a chain."""
    traps = Traps()
    traps.vouch(at("/p/1"))
    barren(traps, "/p/{}", BARREN_PAGES * 2)
    assert traps.refuses(at("/p/999"), LONGEST_CHAIN + 5) is None


def test_filters_that_bring_nothing() -> None:
    """Sorted and filtered views of a list are cut once they stop bringing anything; the list's pages are not."""
    traps = Traps()
    for n in range(BARREN_FILTERS):
        traps.fetched(at(f"/list?color=c{n}&sort=price"), True, False)
    assert traps.refuses(at("/list?color=red&size=1"), 0) == "trap: list filtered endlessly /list"
    assert traps.refuses(at("/list?page=7"), 0) is None
    assert traps.refuses(at("/index.php?product=5"), 0) is None


def test_single_filters_are_judged_for_the_whole_shop() -> None:
    """A list's filters one by one are refused once many have brought nothing in any list; one that does clears them."""
    traps = Traps()
    for number in range(BARREN_PAGES):
        assert traps.refuses(at(f"/new-list?color={number}"), 0) is None
        traps.fetched(at(f"/list-{number}?color=red"), False, False)
    assert traps.refuses(at("/new-list?color=red"), 0) == "trap: list filtered endlessly /new-list"
    traps.fetched(at("/list?size=5"), True, True)
    assert traps.refuses(at("/new-list?color=red"), 0) is None


def test_keys_that_stand_alone_combine_to_filters() -> None:
    """Unknown keys that occur one by one are independent filters when they occur together; an id with a kind is not."""
    traps = Traps()
    for link in ("/list?fit=a", "/list?sole=b", "/index.php?kind=p&id=5", "/index.php?kind=c&id=6"):
        traps.saw(at(link))
    assert traps.filters(at("/list?fit=a&sole=b"))
    assert not traps.filters(at("/index.php?kind=p&id=7"))


def test_priorities() -> None:
    """Links like known offers come first, a list's pages next, its sorted views last."""
    sieve = Sieve(Site(HOME + "/"))
    sieve.seed([f"{HOME}/p/known-{n}" for n in "abc"], "known")
    found = digest("/list?sort=price", "/list?page=2", "/about", "/p/new", title="Shop")
    links = sieve.sift(Place(at("/")), found).links
    ordered = sorted(links, key=lambda link: -link.priority)
    assert [link.url.removeprefix(HOME) for link in ordered] == [
        "/p/new",
        "/list?page=2",
        "/about",
        "/list?sort=price",
    ]


def test_each_link_once() -> None:
    """A page that is known is not brought again, however its parameters are ordered."""
    sieve = Sieve(Site(HOME + "/"))
    first = sieve.sift(Place(at("/")), digest("/x?a=1&b=2", title="One")).links
    again = sieve.sift(Place(at("/y")), digest("/x?b=2&a=1", "/x?a=1&b=2", title="Two")).links
    assert len(first) == 1
    assert again == ()


def test_waiting_pages_are_reconsidered() -> None:
    """A page that waited while a rule was learnt is settled by the rule, without a request."""
    sieve = Sieve(Site(HOME + "/"))
    for n in "abcde":
        found = digest(title=f"Bike {n}", canonical=f"{HOME}/p/{n}")
        sieve.sift(Place(at(f"/p/{n}")), found)
        sieve.sift(Place(at(f"/c/x/p/{n}")), found)
    (outcome,) = sieve.reconsider(Page(id=7, shop_id=1, url=HOME + "/c/y/p/q"))
    assert (outcome.page_id, outcome.columns["canonical"]) == (7, HOME + "/p/q")
    assert [link.url for link in outcome.links] == [HOME + "/p/q"]


@given(st.lists(st.integers(0, 30), max_size=60))
def test_sieve_brings_no_url_twice(numbers: list[int]) -> None:
    """Whatever order pages come in, no link is brought a second time."""
    sieve = Sieve(Site(HOME + "/"))
    seen: list[str] = []
    for number in numbers:
        hrefs = tuple(f"/p/{n}" for n in range(number, number + 5))
        links = sieve.sift(Place(at(f"/p/{number}")), digest(*hrefs, title="P", marks=2)).links
        seen += [link.url for link in links]
    assert len(seen) == len(set(seen))
