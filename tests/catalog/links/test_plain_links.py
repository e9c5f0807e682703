"""Plain links of a shop are cleaned as all others are, only faster."""

import time
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.links.plain_links import PlainLinkCleaner
from url_cleaner.cleaner import clean_url
from url_cleaner.errors import BadUrl

HOME = "https://www.shop.example/"
ROOTS = ["https://www.shop.example", "http://shop.example", "https://shop.example:8443"]
FOREIGN_ROOTS = [
    "https://other.example",
    "https://www.awin1.com",
    "https://bit.ly",
    "https://SHOP.example",
]
PATHS = [
    "/",
    "/p/red-lamp-7",
    "/redirect",
    "/a/redirect.php",
    "/out/7",
    "/a;jsessionid=1",
    "/a%2Fb",
    "/ref=x/7",
    "//a",
]
KEYS = (
    "utm_source utm_medium gclid fbclid partner source ref id pid size color variant affid awc sid session "
    "PHPSESSID url redirect page mc_eid k email q wkz campaign channel"
).split()
VALUES = [
    "",
    "7",
    "12345678",
    "portal",
    "google",
    "email",
    "0123456789abcdef0123456789abcdef",
    "a-b_c.d",
    "https%3A%2F%2Fshop.example%2Fp",
    "%2Fp%2F7",
    "red+lamp",
]

links = st.builds(
    lambda root, path, params: root + path + ("?" + "&".join(params) if params else ""),
    st.sampled_from(ROOTS + FOREIGN_ROOTS),
    st.sampled_from(PATHS),
    st.lists(st.builds("{}={}".format, st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=4),
)


@settings(max_examples=500)
@given(st.lists(links, min_size=1, max_size=6))
def test_results_are_those_of_the_cleaner(sample: list[str]) -> None:
    """Whatever was cleaned before, a link gives what the cleaner gives."""
    clean = partial(clean_url, home=HOME, shop_keys=["wkz"])
    cleaner = PlainLinkCleaner(HOME, clean)
    for link in sample:
        assert cleaner(link) == clean(link)


def test_links_that_are_none() -> None:
    """What is no link is refused as by the cleaner."""
    cleaner = PlainLinkCleaner(HOME, partial(clean_url, home=HOME))
    with pytest.raises(BadUrl):
        cleaner("nowhere")


def test_plain_links_are_fast() -> None:
    """A plain link costs a fraction of a full cleaning."""
    clean = partial(clean_url, home=HOME)
    cleaner = PlainLinkCleaner(HOME, clean)
    sample = [f"{ROOTS[0]}/p/lamp-{n}?utm_source=x&gclid={n:x}&variant={n}" for n in range(3_000)]
    seconds: list[float] = []
    for function in (clean, cleaner):
        begin = time.process_time()
        for link in sample:
            function(link)
        seconds.append(time.process_time() - begin)
    assert seconds[1] < seconds[0] / 4
