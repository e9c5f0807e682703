"""Sitemaps as shops write them: indexes, dates, images, other languages, and broken files."""

import gzip
from datetime import UTC, datetime
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.discovery.sitemap_markup import TOO_LONG_ENTRY
from crawler.discovery.sitemaps import (
    MAX_SIZE,
    MAX_URLS,
    TOO_MANY_ALTERNATES,
    TOO_MANY_ENTRIES,
    SitemapFile,
    parse_date,
    parse_sitemap,
    parse_sitemap_file,
)

RICH = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
 <url><loc>https://a.example/de/x</loc><lastmod>2026-05-01</lastmod><priority>0.5</priority>
  <xhtml:link rel="alternate" hreflang="de" href="https://a.example/de/x"/>
  <xhtml:link rel="alternate" hreflang="en" href="https://a.example/en/x"/>
  <image:image><image:loc>https://a.example/x.jpg</image:loc><image:title>X</image:title></image:image></url>
 <url><loc><![CDATA[https://a.example/y?a=1&b=2]]></loc><lastmod>never</lastmod></url>
 <url><lastmod>2026-05-01</lastmod></url>
</urlset>"""
INDEX = b"""<sitemapindex><sitemap><loc> https://a.example/1.xml.gz </loc><lastmod>2026-05-01T10:00:00Z</lastmod>
</sitemap><sitemap><loc>https://a.example/2.xml</loc></sitemap></sitemapindex>"""


def test_pages_with_dates_pictures_and_languages() -> None:
    """Pages come with their dates.

    Pictures are no pages, other languages are pages of their own.
    """
    sitemap = parse_sitemap(RICH)
    assert sitemap.pages == ("https://a.example/de/x", "https://a.example/y?a=1&b=2")
    assert sitemap.alternates == ("https://a.example/en/x",)
    assert sitemap.versions == {
        "https://a.example/de/x": (
            ("de", "https://a.example/de/x"),
            ("en", "https://a.example/en/x"),
        )
    }
    assert sitemap.changed == {"https://a.example/de/x": datetime(2026, 5, 1, tzinfo=UTC)}


def test_index() -> None:
    """An index names further sitemaps, and when they changed."""
    sitemap = parse_sitemap(INDEX)
    assert sitemap.sitemaps == ("https://a.example/1.xml.gz", "https://a.example/2.xml")
    assert sitemap.changed == {"https://a.example/1.xml.gz": datetime(2026, 5, 1, 10, tzinfo=UTC)}
    assert sitemap.pages == ()


X, Y = "https://a.example/x", "https://a.example/y"
URL = "https://a.example/maps/1.xml"


def entries(*locations: str, root: str = "urlset", name: str = "url") -> str:
    """A sitemap of such locations."""
    inner = "".join(f"<{name}><loc>{location}</loc></{name}>" for location in locations)
    return f"<{root}>{inner}</{root}>"


ADDRESSES = [
    # Relative addresses, which sitemaps.org does not allow.
    ("/x", X),
    ("x", "https://a.example/maps/x"),
    ("../x", X),
    ("?p=1", "https://a.example/maps/1.xml?p=1"),
    ("//a.example/x", X),
    ("a.example/x", "//a.example/x"),
    ("www.a.example/x", "//www.a.example/x"),
    # References and CDATA.
    ("/x?a=1&amp;b=2", f"{X}?a=1&b=2"),
    ("/x?a=1&b=2", f"{X}?a=1&b=2"),
    ("/x?a=1&copy=2&amp=3", f"{X}?a=1&copy=2&amp=3"),
    ("/x?a=1&#38;b=2&#x26;c=3", f"{X}?a=1&b=2&c=3"),
    ("/x?a=1&amp;amp;b=2", f"{X}?a=1&amp;b=2"),
    ("<![CDATA[/x?a=1&b=2]]>", f"{X}?a=1&b=2"),
    (" <![CDATA[\n /x ]]> ", X),
    ("&lt;![CDATA[/x]]&gt;", X),
    ("<![CDATA[/x", X),
    ("https://a.example<![CDATA[/x]]>", X),
    ("https://a.example/<!-- note -->x", X),
    # Blanks.
    ("\u00a0/x\u200b", X),
    ("\n\t/x\r\n", X),
]


@pytest.mark.parametrize(("location", "address"), ADDRESSES)
def test_addresses(location: str, address: str) -> None:
    """Addresses of entries are completed and their references resolved."""
    assert parse_sitemap(entries(location).encode(), URL).pages == (address,)
    index = entries(location, root="sitemapindex", name="sitemap")
    assert parse_sitemap(index.encode(), URL).sitemaps == (address,)


FEEDS = [
    (
        "RSS 2.0",
        "<rss version='2.0'><channel><link>https://a.example/</link><image><url>/i.png</url>"
        "<link>/</link></image><item><title>X</title><link>/x</link><guid>7</guid></item>"
        "<item><link><![CDATA[https://a.example/y]]></link></item></channel></rss>",
        (X, Y),
    ),
    (
        "RSS with addresses as identifiers",
        "<rss><channel><item><guid isPermaLink='true'>https://a.example/x</guid></item>"
        "<item><guid>https://a.example/y</guid></item>"
        "<item><guid isPermaLink='false'>https://a.example/no</guid></item></channel></rss>",
        (X, Y),
    ),
    ("RSS 0.91", "<rss version='0.91'><channel><item><link>/x</link></item></channel></rss>", (X,)),
    (
        "product feed",
        "<rss xmlns:g='http://base.google.com/ns/1.0'><channel><item><g:id>1</g:id>"
        "<g:image_link>/i.png</g:image_link><g:link>/x</g:link></item></channel></rss>",
        (X,),
    ),
    (
        "RSS with links of Atom",
        "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><atom:link rel='self' href='/f'/>"
        "<item><atom:link href='/x'/><description><![CDATA[<link>/no</link><item>]]></description>"
        "</item></channel></rss>",
        (X,),
    ),
    (
        "Atom",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='/feed'/><link href='/'/>"
        "<entry><link rel='self' href='/no'/><link rel='enclosure' href='/no.jpg'/>"
        "<link rel='alternate' type='text/html' href='/x'/><id>urn:1</id></entry>"
        "<entry><id>https://a.example/y</id><source><link href='/no'/><id>/no</id></source></entry>"
        "</feed>",
        (X, Y),
    ),
    (
        "Atom with a base",
        "<a:feed xmlns:a='http://www.w3.org/2005/Atom' xml:base='https://a.example/b/'>"
        "<a:entry xml:base='../'><a:link href='x'/></a:entry></a:feed>",
        (X,),
    ),
    (
        "RDF",
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
        "xmlns='http://purl.org/rss/1.0/'><channel rdf:about='/feed'><link>/</link><items><rdf:Seq>"
        "<rdf:li resource='/x'/></rdf:Seq></items></channel><item rdf:about='/x'><link>/x</link>"
        "</item><item rdf:about='https://a.example/y'><title>Y</title></item></rdf:RDF>",
        (X, Y),
    ),
    ("no entries", "<rss version='2.0'><channel><title>New</title></channel></rss>", ()),
]


@pytest.mark.parametrize(("name", "text", "pages"), FEEDS, ids=[case[0] for case in FEEDS])
def test_feeds(name: str, text: str, pages: tuple[str, ...]) -> None:
    """Feeds are sitemaps: the pages of their entries are read, and nothing else."""
    sitemap = parse_sitemap(f"<?xml version='1.0'?>{text}".encode(), URL)
    assert (sitemap.pages, sitemap.problem) == (pages, "")
    assert parse_sitemap(text.encode(), URL).pages == pages


def test_dates_of_feeds() -> None:
    """The time of an entry's last change is read, its publication is not: a page changes later."""
    atom = "<feed><entry><link href='/x'/><published>2026-01-01</published>{}</entry></feed>"
    changed = parse_sitemap(atom.format("<updated>2026-05-01</updated>").encode(), URL).changed
    assert changed == {X: datetime(2026, 5, 1, tzinfo=UTC)}
    assert parse_sitemap(atom.format("").encode(), URL).changed == {}
    rss = "<rss><item><link>/x</link><pubDate>Fri, 01 May 2026 10:00:00 GMT</pubDate></item></rss>"
    assert parse_sitemap(rss.encode(), URL).changed == {}


def test_languages_of_an_entry() -> None:
    """The first alternate link of an Atom entry is its page, further ones are other languages."""
    text = "<feed><entry><link href='/x'/><link rel='alternate' hreflang='en' href='/y'/></entry>"
    sitemap = parse_sitemap(text.encode(), URL)
    assert (sitemap.pages, sitemap.alternates) == ((X,), (Y,))
    assert sitemap.versions == {X: (("en", Y),)}


NAMESPACES = [
    "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'><url><loc>/x</loc></url></urlset>",
    "<sm:urlset xmlns:sm='http://www.sitemaps.org/schemas/sitemap/0.9'><sm:url><sm:loc>/x</sm:loc>"
    "</sm:url></sm:urlset>",
    "<ns0:urlset><ns0:url><ns0:loc>/x</ns0:loc></ns0:url></ns0:urlset>",
    "<urlset><url><sm:loc>/x</sm:loc></url></urlset>",
    "<URLSET><URL><LOC>/x</LOC></URL></URLSET>",
    "<urlset><url><image:image><image:loc>/i.png</image:loc></image:image><loc>/x</loc></url>"
    "</urlset>",
    "<urlset><url><image xmlns='i'><loc>/i.png</loc></image><loc>/x</loc></url></urlset>",
    "<urlset><url><image:loc>/i.png</image:loc><loc>/x</loc></url></urlset>",
    "<urlset><!DOCTYPE x><?xml-stylesheet href='a.xsl'?><url ><loc\n>/x</loc ></url ></urlset >",
]


@pytest.mark.parametrize("text", NAMESPACES)
def test_namespaces(text: str) -> None:
    """Prefixes and namespaces do not matter, whether they are declared, missing or odd."""
    sitemap = parse_sitemap(text.encode(), URL)
    assert (sitemap.pages, sitemap.skipped) == ((X,), {})


UMLAUT = "https://a.example/gr\u00fcn"
DECLARED = "<?xml version='1.0' encoding='{}'?><urlset><url><loc>{}</loc></url></urlset>"


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("utf-8", "utf-8"),
        ("utf-8", "utf-8-sig"),
        ("utf-8", "utf-16"),
        ("utf-16", "utf-16"),
        ("utf-16", "utf-16-be"),
        ("utf-16", "utf-8"),
        ("utf-8", "utf-32"),
        ("iso-8859-1", "latin-1"),
        ("utf-8", "latin-1"),
        ("hex", "utf-8"),
        ("nonsense", "cp1252"),
    ],
)
def test_encodings(declared: str, encoding: str) -> None:
    """The bytes decide, then the declaration."""
    body = DECLARED.format(declared, UMLAUT).encode(encoding)
    assert parse_sitemap(body, URL).pages == (UMLAUT,)


TEXTS = [
    (b"https://a.example/x\nhttps://a.example/y\n", {}),
    (b"\xef\xbb\xbfhttps://a.example/x\r\nhttps://a.example/y", {}),
    ("https://a.example/x\nhttps://a.example/y".encode("utf-16"), {}),
    (b"# pages\n\nhttps://a.example/x\rHTTPS://a.example/y\r", {}),
    (b"/x\n/y\n", {}),
    (b"a.example/x\na.example/y\n", {}),
    (b"https://a.example/x https://a.example/y", {}),
    (
        b"https://a.example/x\t2026-05-01\nsee below\n\nhttps://a.example/y",
        {"line without an address": 1},
    ),
]


@pytest.mark.parametrize(("body", "skipped"), TEXTS)
def test_text_sitemaps(body: bytes, skipped: dict[str, int]) -> None:
    """A text lists one address a line; other lines are counted."""
    sitemap = parse_sitemap(body, URL)
    pages = [
        page.lower().replace("//a.example", "https://a.example", page.startswith("//"))
        for page in sitemap.pages
    ]
    assert (pages, sitemap.skipped) == ([X, Y], skipped)


BROKEN = [
    ("cut off in an address", "<urlset><url><loc>{x}</loc></url><url><loc>{y}", [X], "cut off"),
    ("cut off in a tag", "<urlset><url><loc>{x}</loc></url><url><lo", [X], "cut off"),
    ("cut off behind an entry", "<urlset><url><loc>{x}</loc></url>", [X], "cut off"),
    (
        "blank lines before it",
        "\n\n<?xml version='1.0'?><urlset><url><loc>{x}</loc></url></urlset>",
        [X],
        "",
    ),
    (
        "a warning before it",
        "<br />\n<b>Warning</b>: x in <b>y</b><urlset><url><loc>{x}</loc></url></urlset>",
        [X],
        "",
    ),
    ("no end tags", "<urlset><url><loc>{x}<url><loc>{y}</urlset>", [X, Y], ""),
    ("no entries around", "<urlset><loc>{x}</loc><loc>{y}</loc></urlset>", [X, Y], ""),
    ("no root", "<url><loc>{x}</loc></url><url><loc>{y}</loc></url>", [X, Y], ""),
    ("no locations", "<urlset><url>{x}</url><url>{y}</url></urlset>", [X, Y], ""),
    (
        "an entry without one",
        "<urlset><url/><url><loc>{x}</loc></url></urlset>",
        [X],
        "entry without an address",
    ),
    (
        "an empty location",
        "<urlset><url><loc/></url><url><loc>{x}</loc></url></urlset>",
        [X],
        "entry without an address",
    ),
    (
        "a bare <",
        "<urlset><url><loc>{x}</loc><title>a < b</title></url><url><loc>{y}</loc></url></urlset>",
        [X, Y],
        "",
    ),
    (
        "tags crossed",
        "<urlset><url><loc>{x}</url></loc><url><loc>{y}</loc></url></urlset>",
        [X, Y],
        "",
    ),
    (
        "a quote too many",
        '<urlset><url><loc a=">{y}</loc></url><url><loc>{x}</loc></url></urlset>',
        [X],
        "entry without an address",
    ),
    (
        "a comment",
        "<urlset><!-- <url><loc>{y}</loc></url> --><url><loc>{x}</loc></url></urlset>",
        [X],
        "",
    ),
    (
        "a comment without end",
        "<urlset><!-- a <url><loc>{x}</loc></url></urlset>",
        [X],
        "comment or CDATA section not closed",
    ),
    (
        "a comment that lacks its end",
        "<urlset><!-- a <url><loc>{x}</loc></url><!-- b --><url><loc>{y}</loc></url></urlset>",
        [X, Y],
        "comment or CDATA section not closed",
    ),
    (
        "a picture without end",
        "<urlset><url><loc>{x}</loc><image:image></url><url><loc>{y}</loc></url></urlset>",
        [X, Y],
        "",
    ),
]


@pytest.mark.parametrize(
    ("name", "text", "pages", "reason"), BROKEN, ids=[case[0] for case in BROKEN]
)
def test_broken_markup(name: str, text: str, pages: list[str], reason: str) -> None:
    """A slip costs its entry at most, and what is left out is counted."""
    sitemap = parse_sitemap(text.format(x=X, y=Y).encode(), URL)
    assert (list(sitemap.pages), dict(sitemap.skipped)) == (pages, {reason: 1} if reason else {})


NO_SITEMAPS = [
    (b"", "empty"),
    (b" \n\xef\xbb\xbf", "empty"),
    (b"<!DOCTYPE html><html><link href=/x><url>/x</url></html>", "html page"),
    (b"<p>Not found", "no sitemap"),
    (b"Not found", "no sitemap"),
    (b'{"urls": ["https://a.example/x"]}', "no sitemap"),
    (b"\x00\xff", "no sitemap"),
    (b"\x89PNG\r\n\x1a\n", "no sitemap"),
]


@pytest.mark.parametrize(("body", "problem"), NO_SITEMAPS)
def test_other_files(body: bytes, problem: str) -> None:
    """A file of another kind has a reason."""
    assert parse_sitemap(body, URL) == SitemapFile(problem=problem)


def test_mixed_index() -> None:
    """Entries named like sitemaps are sitemaps, whatever the root; those of an index are too."""
    mixed = "<urlset><sitemap><loc>/1.xml</loc></sitemap><url><loc>/x</loc></url></urlset>"
    sitemap = parse_sitemap(mixed.encode(), URL)
    assert (sitemap.sitemaps, sitemap.pages) == (("https://a.example/1.xml",), (X,))
    index = parse_sitemap(entries("/1.xml", root="sitemapindex").encode(), URL)
    assert (index.sitemaps, index.pages) == (("https://a.example/1.xml",), ())


def test_entries_and_languages_beyond_the_bounds_are_counted() -> None:
    """Each entry, and each address in another language, that is left out of a long file is counted."""
    locations = [f"/{number}" for number in range(MAX_URLS + 3)]
    sitemap = parse_sitemap(entries(*locations).encode(), URL)
    assert (len(sitemap.pages), sitemap.skipped) == (MAX_URLS, {TOO_MANY_ENTRIES: 3})
    links = [f"<link hreflang=en href=/{number} />" for number in range(MAX_URLS + 900)]
    rows = [
        f"<url><loc>/p{n}</loc>{''.join(links[n : n + 900])}</url>"
        for n in range(0, len(links), 900)
    ]
    sitemap = parse_sitemap(f"<urlset>{''.join(rows)}</urlset>".encode(), URL)
    assert (len(sitemap.alternates), sitemap.skipped) == (MAX_URLS, {TOO_MANY_ALTERNATES: 900})


FLOODS = [
    '<xhtml:link rel="alternate" hreflang="en" href="https://a.example/en/x"/>',
    "<link hreflang=en href=/y />",
    "<link />",
    "<loc>/x</loc>",
    "<image:image><image:loc>/y</image:loc></image:image>",
]


@pytest.mark.parametrize("element", FLOODS)
def test_an_entry_of_a_million_elements_is_cut(element: str) -> None:
    """An entry is read up to a number of tags, and counted; the entries behind it are read."""
    flood = element * min(1_000_000, MAX_SIZE // 2 // len(element))
    text = f"<urlset><url><loc>/x</loc>{flood}</url><url><loc>/p</loc></url></urlset>"
    started = process_time()
    sitemap = parse_sitemap(text.encode(), URL)
    assert process_time() - started < 3
    assert (sitemap.pages, sitemap.skipped) == ((X, "https://a.example/p"), {TOO_LONG_ENTRY: 1})


def test_gzip() -> None:
    """Gzipped files are recognised by their bytes, also twice; of a broken one the part is read."""
    whole = entries(*(f"/{n}" for n in range(20_000))).encode()
    assert len(parse_sitemap_file(gzip.compress(whole), URL).pages) == 20_000
    assert len(parse_sitemap_file(gzip.compress(gzip.compress(whole)), URL).pages) == 20_000
    zipped = gzip.compress(whole)
    for broken in (zipped[:-9_000], zipped[:20_000] + b"\xff" * 500 + zipped[20_500:]):
        sitemap = parse_sitemap_file(broken, URL)
        assert 1_000 < len(sitemap.pages) < 20_000
        assert sitemap.skipped["broken gzip"] == 1
    assert parse_sitemap_file(b"\x1f\x8b\x08nonsense", URL).problem == "broken gzip"


HOSTILE = [
    "<url>" * 400_000,
    "<url><loc>" * 300_000,
    "<!--" * 500_000,
    "<![CDATA[" * 300_000,
    "<urlset><url><loc><![CDATA[" + "]" * 2_000_000,
    "<url><loc>" + "<" * 2_000_000,
    "<loc " + "a" * 2_000_000,
    "<loc " + "a='" * 700_000,
    "<urlset><url><link " + "a=b " * 300_000 + "/></url>",
    "&" * 2_000_000,
    "<urlset><url><loc>" + "&amp;" * 400_000 + "</loc>",
    "<urlset><url><loc>/x</loc>" + "<link rel='alternate' href='/x'/>" * 50_000,
    "<x:" * 700_000,
    "<!-- --" * 300_000 + "-->",
    "https://a.example/ " * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=[text[:20] for text in HOSTILE])
def test_hostile_markup(text: str) -> None:
    """Markup made to cost time costs a few seconds at most."""
    started = process_time()
    parse_sitemap(text.encode(), URL)
    assert process_time() - started < 8


@given(st.binary(max_size=200), st.text(max_size=40))
def test_nothing_raises(body: bytes, date: str) -> None:
    """Parsing any bytes as a sitemap, or any text as a date, never raises."""
    for start in (
        b"<urlset><url><loc>",
        b"<feed><entry>",
        b"<rss><item><link ",
        b"",
        b"\x1f\x8b\x08",
    ):
        assert isinstance(parse_sitemap_file(start + body, URL), SitemapFile)
    assert parse_date(date) is None or parse_date(date) is not None
