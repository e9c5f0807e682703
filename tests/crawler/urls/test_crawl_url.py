"""From links to addresses: cleaned once and for good, refused by name, folded to shapes."""

import string
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.crawl_url import MAX_PATH_DEPTH, CrawlUrl, strip_session_ids, trap_reason
from crawler.urls.site import Site
from crawler.urls.url_rules import refusal_reason

HOME = "https://shop.example/"
WORDS = st.text(string.ascii_lowercase + string.digits + "-._~%äß +", max_size=12)
PATHS = st.lists(WORDS, max_size=6).map("/".join)
QUERIES = st.lists(st.tuples(WORDS, WORDS), max_size=4).map(
    lambda pairs: "&".join(f"{k}={v}" for k, v in pairs)
)


@given(PATHS, QUERIES, WORDS)
def test_reading_twice_changes_nothing(path: str, query: str, fragment: str) -> None:
    """An address that was read is read as itself, without fragment, on the shop's own origin."""
    site = Site(HOME)
    address = site.normalize(f"{HOME}{path}?{query}#{fragment}")
    if isinstance(address, CrawlUrl):
        again = site.normalize(address.text)
        assert again == address
        assert address.text.startswith(HOME)
        assert "#" not in address.text


@given(st.text(max_size=60), st.sampled_from([HOME, HOME + "a/b?c=d", HOME + "a/"]))
def test_any_text_is_an_address_or_a_reason(href: str, base: str) -> None:
    """Resolving any text as a href never raises and never leaves the shop."""
    address = Site(HOME).resolve(href, base)
    assert (
        address is None
        or isinstance(address, str)
        or urlsplit(address.text).netloc == "shop.example"
    )


@given(st.permutations([("a", "1"), ("b", "2"), ("c", "3")]))
def test_order_of_parameters(pairs: list[tuple[str, str]]) -> None:
    """The same parameters in another order are the same page."""
    query = "&".join(f"{name}={value}" for name, value in pairs)
    assert (
        CrawlUrl.parse(f"{HOME}x?{query}").page_key
        == CrawlUrl.parse(f"{HOME}x?a=1&b=2&c=3").page_key
    )


@given(
    st.lists(st.integers(0, 9999), min_size=1, max_size=5),
    st.lists(st.integers(0, 9999), min_size=1, max_size=5),
)
def test_shape_folds_numbers(first: list[int], second: list[int]) -> None:
    """Addresses that differ in numbers only have one shape, and are numeric variants."""
    a, b = (
        CrawlUrl.parse(f"{HOME}cal/{'/'.join(map(str, numbers))}") for numbers in (first, second)
    )
    assert (a.shape == b.shape) == (len(first) == len(second))
    assert a.is_numeric_variant(b)


@given(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=MAX_PATH_DEPTH, unique=True))
def test_plain_paths_are_no_traps(segments: list[str]) -> None:
    """A path without repetition is never taken for a trap."""
    assert trap_reason(CrawlUrl.parse(HOME + "/".join(segments))) is None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("a/b/a/c/a/d", "trap: endless a"),
        ("/".join("abcdefghijklm"), "trap: path too deep"),
        ("x?y=" + "z" * 2_000, "trap: URL too long"),
        ("2024/2024/2024", None),
    ],
)
def test_endless(url: str, reason: str | None) -> None:
    """Paths that repeat, run deep or grow long are cut."""
    assert trap_reason(CrawlUrl.parse(HOME + url)) == reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("cart", "cart"),
        ("warenkorb/", "cart"),
        ("de/kasse/adresse", "checkout"),
        ("customer/account/login", "account"),
        ("en-us/sign-in", "account"),
        ("merkzettel", "wish list"),
        ("p/7?add-to-cart=7", "cart"),
        ("index.php?route=checkout/cart", "cart"),
        ("index.php?action=Logout", "account"),
        ("index.php?action=show", None),
        ("p/7?format=json", "share, print or feed"),
        ("p/7?format=PDF", "share, print or feed"),
        ("p/7?alt=rss", "share, print or feed"),
        ("p/7?output=embed", "share, print or feed"),
        ("p/7?format=a4", None),
        ("p/7?format=hardcover", None),
        ("p/7?format=epub", None),
        ("p/7?alt=2", None),
        ("p/7?output=65-w", None),
        ("out?id=7", "redirector"),
        ("go/4711", "redirector"),
        ("x?back=https%3A%2F%2Fother.example%2F", "redirector"),
        ("photo.JPG", "not a page"),
        ("feed.atom", "not a page"),
        ("p/{{ id }}", "not a link"),
        ("products/cart", None),
        ("c/order-pads", None),
        ("go/kart-racing", None),
        ("out/door-mats", None),
        ("feed/horse-feed", None),
        ("p/a.b-c", None),
        ("index.php?route=product/product&product_id=5", None),
    ],
)
def test_refusals(path: str, reason: str | None) -> None:
    """Functions of a shop are refused by their place and name; offers of the same name are not."""
    assert refusal_reason(CrawlUrl.parse(HOME + path)) == reason


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/p?b=1&utm_source=x", HOME + "p?b=1"),
        ("http://www.shop.example/p", HOME + "p"),
        ("//shop.example/p#top", HOME + "p"),
        ("../p", HOME + "p"),
        ("?page=2", HOME + "a/b?page=2"),
        ("/a/./b/../c", HOME + "a/c"),
        ("/p;jsessionid=AB12?x=1", HOME + "p?x=1"),
        ("https://wrapper.example/click?to=https%3A%2F%2Fshop.example%2Fp", HOME + "p"),
    ],
)
def test_following(href: str, url: str) -> None:
    """Links are resolved, cleaned and put on the shop's own origin."""
    address = Site(HOME).resolve(href, HOME + "a/b")
    assert isinstance(address, CrawlUrl)
    assert address.text == url


@pytest.mark.parametrize(
    "href",
    ["https://shop.example:8443/p", "https://shop.example.org/", "ftp://shop.example/", "//x"],
)
def test_elsewhere(href: str) -> None:
    """Other hosts, ports and schemes are no pages of the shop."""
    assert isinstance(Site(HOME).resolve(href, HOME), str)


def test_own_origin_after_a_move() -> None:
    """Where the root answers under another scheme or with www., all addresses follow it."""
    site = Site("http://shop.example/")
    assert site.move_to("https://www.shop.example/x")
    address = site.check("http://shop.example/p")
    assert isinstance(address, CrawlUrl)
    assert address.text == "https://www.shop.example/p"


@given(st.text(string.ascii_lowercase + "?&=;/", max_size=40))
def test_without_session_is_idempotent(text: str) -> None:
    """Taking session ids off twice is taking them off once."""
    once = strip_session_ids(HOME + text)
    assert strip_session_ids(once) == once
