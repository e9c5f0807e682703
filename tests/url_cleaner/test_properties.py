"""Properties that hold for every URL."""

import contextlib
import sys
import time
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from url_cleaner.cleaner import clean_url, is_clean
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.networks import load_network_data
from url_cleaner.urls.query import join_parameters, parse_query
from url_cleaner.urls.url import MAX_URL_LENGTH, Url, unescape

HOME = "https://www.shop.com/"
WORDS = st.sampled_from(
    "utm_source gclid id url u ued ULP=[[ ]] ref partner pid variant 7 a1 = & ? # / // : @ ; . % "
    "%25 %2F %3A %26 %3D "
    "&amp; amp; [ ] ( ) \\ \t ö https:// http:/ www. www.shop.com shop.com/ shop.com /redirect /CL0/ /entry.jsp?url= eurl= xtloc= sid= /out to "
    "www.awin1.com/cread.php? "
    "https://www.awin1.com/cread.php?ued= https://www.google.com/url?q= "
    "https%3A%2F%2Fwww.shop.com%2Fp%3Fid%3D7 "
    "https%253A%252F%252Fshop.com aHR0cHM6Ly93d3cuc2hvcC5jb20v bit.ly :~:text= utm_id=1 127.0.0.1:80 [::1]".split(
        " "
    )
)
PIECES = st.lists(st.one_of(WORDS, st.text(max_size=4)), max_size=14).map("".join)
STARTS = [
    "https://",
    "//",
    "",
    "https://www.shop.com/p?",
    "https://a.com/?",
    "https://a.com/",
    "https://www.google.com/url?q=",
]
CLICKS = sorted(
    f"https://{host.replace('*', 'de')}{path.replace('*', 'x')}{place}"
    for host, wrappers in load_network_data().wrappers.items()
    for wrapper in wrappers
    for path in wrapper.paths or ("/",)
    for place in [*(f"?{key}=" for key in wrapper.keys), *(mark[0] for mark in wrapper.marks)]
)
LINKS = st.builds(
    "{}{}".format, st.one_of(st.sampled_from(STARTS), st.sampled_from(CLICKS)), PIECES
)
HOMES = st.sampled_from([None, HOME, "http://127.0.0.1:4321"])


@given(LINKS, HOMES)
@example("https://a.com/?u=https://b.com/?utm_source=1?u=&", None)
def test_cleaning_twice_changes_nothing(link: str, home: str | None) -> None:
    """A cleaned link is clean, and cleaning raises nothing but BadUrl."""
    with contextlib.suppress(BadUrl):
        cleaned = clean_url(link, home=home)
        if cleaned.url is None or cleaned.opaque:
            return
        again = clean_url(cleaned.url, home=home)
        assert again.url == cleaned.url
        assert again.unwrapped == again.removed == ()
        assert is_clean(cleaned.url, home)


@given(LINKS, HOMES)
def test_no_host_out_of_nowhere(link: str, home: str | None) -> None:
    """The host of the result stands in the input, once that is decoded; with a shop known, it is
    the shop's.
    """
    try:
        cleaned = clean_url(link, home=home)
    except BadUrl:
        return
    if cleaned.url is None:
        return
    host = Url.parse(cleaned.url)
    if home:
        assert host.site == Url.parse(home).site
    text = link
    for _ in range(7):
        text = unescape(text)
    if host.host.isascii() and "xn--" not in host.host and ":" not in host.host and link.isascii():
        lowered = text.lower().translate({9: None, 10: None, 13: None})
        assert host.host in lowered or "ahr0c" in lowered


@given(PIECES)
def test_queries_come_together_as_they_were(query: str) -> None:
    """Cutting a query and joining all of it gives the same text."""
    params = parse_query(query)
    assert join_parameters(params, [True] * len(params)) in (query, "")


@given(
    st.lists(
        st.tuples(st.sampled_from(["id", "variant", "sku", "color", "x"]), st.text(max_size=5)),
        max_size=5,
    )
)
def test_unknown_parameters_survive(pairs: list[tuple[str, str]]) -> None:
    """No mixture with trackers and no wrapper costs a parameter that does not track."""
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in pairs)
    tidy = f"https://www.shop.com/p/a7{'?' if query else ''}{query}"
    dirty = f"https://www.shop.com/p/a7?utm_source=1&{query}&gclid=2"
    assert clean_url(dirty).url == tidy
    assert (
        clean_url(f"https://www.awin1.com/cread.php?awinmid=1&ued={quote(dirty, safe='')}").url
        == tidy
    )
    assert (
        clean_url(f"https://t.example/x?y={quote(quote(dirty, safe=''), safe='')}", home=HOME).url
        == tidy
    )


BAD = [
    *(
        "",
        " ",
        "http://",
        "https:///",
        "ftp://a.com",
        "mailto:a@b.com",
        "javascript:alert(1)",
        "/p/7",
        "p",
        "index.html",
        "page.do?id=7",
        "a.invalid/p",
    ),
    *(
        "https://a b.com/",
        "https://a.com:99999/",
        "https://a.com:x/",
        "https://[::1/",
        "https://a\\@b.com/",
    ),
    *("https://.a.com/", "https://a..com/", "https://a%00.com/", "https://\ud800.com/"),
    f"https://{'a' * 64}.com/",
    "https://a.com:000044399999/",
    "\n".join(["https://a.com/", "x" * MAX_URL_LENGTH]),
]


@pytest.mark.parametrize("link", BAD)
def test_bad_links(link: str) -> None:
    """A text that is no http(s) URL is refused in one line that quotes it."""
    with pytest.raises(BadUrl) as error:
        clean_url(link)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 250


HOSTILE = {
    "separators": ("https://a.com/?", "a&"),
    "own separators": ("https://www.shop.com/?", "a?"),
    "schemes": ("https://a.com/", "http:/"),
    "escapes": ("https://a.com/?u=", "%2525252525"),
    "base64": ("https://a.com/?", "k=aHR0cHM6Ly93d3cuc2hvcC5kZS9wL2FydGlrZWw&"),
    "wrappers": ("https://www.awin1.com/cread.php?", "ued=https://b.com/?"),
    "nested": ("", "https://www.awin1.com/cread.php?ued="),
    "nested redirects": ("https://www.shop.com/redirect?", "url=https://www.shop.com/redirect?"),
    "entities": ("https://a.com/?", "&amp;"),
    "numeric entities": ("https://a.com/?", "&#0000000000"),
    "letters": ("https://a.com/", "öa"),
    "labels": ("https://", "a."),
    "colons": ("https://", "a:"),
    "sessions": ("https://a.com/", ";sid="),
    "brackets": ("https://clk.tradedoubler.com/click?url(", "("),
    "fragment": ("https://a.com/#", "utm_a=&"),
    "links in a click's path": ("https://www.anrdoezrs.net/links/", "ULP=[[http%3A%2F%2Fa.de"),
    "own redirects, encoded": ("https://ds1.nl/c/?dl=", "http://www.shop.com/redirect?url=%252525"),
    "padding": ("https://www.amazon.de/gp/redirect.html?U=", "%20"),
    "landing pages": (
        "https://prf.hn/destination:https://a.com/x.jsp?",
        "url=https://b.com/y.jsp?",
    ),
    "bare hosts": ("https://a.pxf.io/c/1/2/3?u=", "a.b-"),
    "bare hosts, encoded": ("https://a.pxf.io/c/1/2/3?u=", "%25252Ea"),
    "hosted paths": ("https://a.com/click/", "1234.5678/"),
    "other keys of a network": ("https://clk.tradedoubler.com/click?", "redirect=https://b.com&"),
    "encoded separators": ("https://www.awin1.com/cread.php?ued=https://b.com/?a", "%26a"),
    "session ids": ("https://a.com/?", "sid=0123456789abcdef0123456789abcdef&"),
    "base64 in the path": ("https://x.mjt.lu/lnk/", "aHR0cHM6Ly93d3cuc2hvcC5jb20vcC83/"),
}


@pytest.mark.parametrize("home", [None, HOME])
@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_links_cost_little(case: tuple[str, str], home: str | None) -> None:
    """10 KB of anything take less than 50 ms: up to 14, and a square of them would take seconds."""
    head, unit = case
    link = (head + unit * 10_000)[:10_000]
    best = min(_seconds(f"{link}{number}", home) for number in range(6))
    assert best < 0.050


def _seconds(link: str, home: str | None) -> float:
    # A coverage tracer would be timed as well.
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        begin = time.process_time()
        with contextlib.suppress(BadUrl):
            clean_url(link, home=home)
        return time.process_time() - begin
    finally:
        sys.settrace(tracer)
