"""Fuzz targets: each reads one input as Scout would, and asserts what holds for every input.

A target raises an error of Scout's own (`catalog.errors`) for an input that it refuses. Any other
exception is a bug.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import polars as pl
from hypothesis import strategies as st

from catalog.errors import ScoutError
from catalog.feeds import files, sources
from catalog.feeds.feed_reader import FeedReader
from catalog.feeds.rows import Row
from catalog.models import Attribute
from catalog.runtime.progress import no_progress
from catalog.values import Hint, is_same_value, make_offer, normalise, offer_values, value_key
from crawler.discovery.sitemaps import parse_sitemap_file
from crawler.pages.page_digest import PageDigester
from crawler.sources.warc_reader import read_responses
from crawler.urls.site import Site
from matcher.dedupe.base.records import Records
from matcher.dedupe.deduplication import MethodName, deduplicate
from matcher.taught.deduplication import TaughtOptions, decide
from matcher.taught.variants.rules import ALL_RULES
from parser.heuristics.heuristic_reader import read_by_heuristics
from parser.page.document import Document
from parser.page_reader import read_page
from parser.rules.model import RuleSet
from parser.scripts.schema_org import schema_org_things
from parser.scripts.syntax.javascript import CodeReader, parse_javascript, parse_json
from rules_generator.labelled_pages import learn_rules
from tests.fuzz.mutations import (
    MAX_LINE_EDITS,
    Draw,
    choice,
    drawn_text,
    lists,
    mutated,
    one_of,
    tuples,
)
from url_cleaner.cleaner import clean_url, is_clean
from url_cleaner.errors import BadUrl
from url_cleaner.urls.url import join_url, url_key

TESTS = Path(__file__).parents[1]
HOME = "https://shop.example/"
PAGE = "https://shop.example/p/1"
HOMES = (None, HOME, "http://127.0.0.1:4321", "https://www.shop.example/en/")
METHODS: tuple[MethodName, ...] = get_args(MethodName)
# A feed in which the title of one item has a slip.
FEED_ITEMS = 6
FEED = '<rss xmlns:g="http://base.google.com/ns/1.0"><channel><title>Shop</title>\n{items}</channel></rss>'
ITEM = (
    "<item><g:id>{number}</g:id><title>{title}</title>"
    "<link>https://shop.example/p?a=1&amp;b={number}</link></item>\n"
)
# What ends or hides an item, so that another number of items is right.
ITEM_MARKS = (b"item", b"<!--", b"<![CDATA[", b"<?", b"ENTITY", b"<!", b"-->")
_RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>Mug"
RECORD = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://shop.example/p/1\r\n"
    b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(_RESPONSE), _RESPONSE)
)
# Bytes of a body that the WARC target reads.
MAX_BODY = 200_000
# Pages of one shop that the learner gets, the mutated ones included.
LEARNT_PAGES = 4

# Values that say which volume, edition, size or model a record is.
MARKED_VALUES = [
    *"42 XL 2nd 1999 [1999] A12 a12s 500ml ½ ² ⅷ ١٢ 1e400 9999-2 iv - №4".split(),
    *("tome III", "vol. 2-", "2. Band", "second ed.", "1.5 l", "10 x 20 cm", "3-5 kg", ""),
]

MARKUP = [
    *b"< > & \" ' = / </ <! <!-- --> --!> <![CDATA[ ]]> ]]&gt; <? ?> &amp; &nbsp; &# &#0; &#x110000;".split(),
    *b"&lt; &quot; &#38; <g:id> </item> <item> <p <b> </b> <script> </script> <template> <svg> <del>".split(),
    *b"g: x: xmlns= \x00 \x08 \xff \xfe\xff \xef\xbb\xbf \xc3 \xed\xa0\x80 \xe2\x80\xae encoding='utf-16'".split(),
    b' class="a" ',
    b" a",
    b"<!DOCTYPE x [<!ENTITY a '&b;&b;'>]>",
    b"<base href='//x:99999999'>",
    b"<meta charset=hex>",
    b"\r\n\r\n",
]
DATA = [
    *b'{ } [ ] , : " \\ \\" \\u \\ud800 null -0 1e999 1e-999 0x1 NaN undefined {}'.split(),
    *b'"@graph":[ "@type":"Product", "price":"1,2", "offers":[ "priceSpecification": // /* */'.split(),
    *b"&quot; &amp;quot; ; \x00 \xe2\x80\xa8 ` ${ ' function(){ ( ) => 9999999999999999999999".split(),
]
TABLE = [
    *b'" \\" "" , ; | \\ \x00 \xff \xef\xbb\xbf \' = id price link -1 1e13 1.299,00 12.990'.split(),
    b"\n",
    b"\r",
    b"\t",
    b'"\n"',
    b"4006381333931.0",
    b"=1+1",
]
ARCHIVE = [
    *b"WARC/1.0 WARC/1.1 WARC/ Content-Length: -1 99999999999999 HTTP/1.1 200 999 abc gzip br zstd".split(),
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b":",
    b"\x00",
    b"\x1f\x8b\x08",
    b"Content-Encoding: br, gzip, deflate, zstd\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 5\r\n",
    b"ffffffff\r\n",
    b"WARC-Target-URI: <http://[::1\r\n",
    b"WARC-Date: 9999-99-99\r\n",
]
LINKS = [
    *"& = ? # / // : @ ; . .. % %2 %00 %25 %2F %3A %26 %3D [[ ]] [ ] \\ * , | ( ) ö ß ı İ 。 ． xn-- xn--a".split(),
    *"http:// https:// https%3A%2F%2F //shop.example/ shop.example/p www. localhost [::1] 0x7f.1 :99999".split(),
    *"url= u= redirect= eurl= ued= xts= sid= PHPSESSID= utm_source= ga_x= /CL0/ /redirect aHR0cHM6Ly9h".split(),
    "\x00",
    "\t",
    "\n",
    " ",
    "\u202e",
    "\ud800",
    "https://shop.example/p?id=7",
    "https%253A%252F%252Fshop.example%252Fp",
]
WORDS = [
    *"€ $ £ kr SEK CAD R$ ₹ ¥ 元 zł Kč лв ден Rp /kg ab from statt ~ % - – .- ,-- 00 0 9 99 . , ' ’".split(),
    *"1.299 1,5 12.990 lakh jt k mio 万 тыс. tys. x / ( ) & &amp; &nbsp; &#1; <b> </b> <del> <sup>50</sup>".split(),
    *"> » | :: EAN: GTIN 4006381333931 4.006E+12 ,4006381333931 n/a SKU: # http:// // .jpg ?v=1 _300x".split(),
    " ",
    "\n",
    "\x00",
    "\u00a0",
    "\u200b",
    "\u202e",
    "\u0301",
    "\u3099",
    "\ud800",
    "½",
    "Ⅷ",
    "٣",
    "३",
    "ﬁ",
    "İ",
    "ß",
    "Notify me when available",
    "in stock",
    "nicht verfügbar",
]


@dataclass(frozen=True)
class Target:
    """A function under test, and one that draws its inputs, which are literals of Python.

    `run` returns False for an input that is refused. `share` is the target's part of a thousand
    inputs: more of those that are cheap.
    """

    name: str
    share: int
    draw: Draw
    run: Callable[[Any], bool]

    @property
    def inputs(self) -> st.SearchStrategy[Any]:
        """Inputs as a strategy, whose random numbers Hypothesis chooses, and makes smaller."""
        return st.randoms(use_true_random=False).map(self.draw)


def check_url(case: tuple[str, str]) -> bool:
    """Clean a link: what is clean stays unchanged, and a relative link resolves or does not."""
    link, base = case
    join_url(base, link)
    Site(HOME).resolve(link, base)
    return sum(is_cleaned(link, home) for home in HOMES) > 0


def is_cleaned(link: str, home: str | None) -> bool:
    """Clean a link, and return True if it is one."""
    try:
        cleaned = clean_url(link, home=home)
    except BadUrl:
        return False
    if cleaned.url is None or cleaned.opaque:
        return False
    assert clean_url(cleaned.url, home=home).url == cleaned.url
    assert is_clean(cleaned.url, home)
    assert url_key(cleaned.url)
    assert_storable(cleaned.url)
    return True


def check_value(case: tuple[str, str | None, str | None]) -> bool:
    """Normalise a text as each attribute: see `is_value`."""
    raw, decimal, currency = case
    hint = Hint(currency=currency, decimal=decimal, base_url=PAGE)
    for attribute in Attribute:
        make_offer({attribute: raw, Attribute.PRICE: raw}, hint)
    return sum(is_value(attribute, raw, hint) for attribute in Attribute) > 0


def is_value(attribute: Attribute, raw: str, hint: Hint) -> bool:
    """Normalise a text, and return True if it has a value.

    A normalised text stays unchanged, has a key, and can be stored.
    """
    value = normalise(attribute, raw, hint)
    if value is None:
        return False
    assert normalise(attribute, value, hint) == value
    assert normalise(attribute, value) == value
    assert value_key(attribute, value)
    assert is_same_value(attribute, value, value)
    assert_storable(value)
    offer = make_offer({attribute: value}, hint)
    assert make_offer(offer_values(offer), hint) == offer
    return True


def check_feed(case: tuple[bytes, str]) -> bool:
    """Read a feed: each of its rows is kept or refused with its line, and offers can be stored."""
    content, format = case
    path = work_folder() / "feed"
    path.write_bytes(content)
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        reader = FeedReader(str(path), HOME, {}, spool, no_progress)
        try:
            with sources.open_source(str(path), format, reader.note, no_progress) as rows:
                reader.read_all(rows)
        except ScoutError:
            return False
        offers = list(reader.read_spool())
    summary = reader.summary()
    assert summary.read == summary.kept + summary.bad
    assert len(offers) == summary.kept
    assert all(row.reason and row.line >= 0 for row in reader.bad_rows)
    assert_storable(json.dumps(offers, ensure_ascii=False))
    return True


def check_slip(case: tuple[str, int]) -> bool:
    """Read a feed with a slip in the title of one item: no other item is lost silently."""
    title, position = case
    items = [ITEM.format(number=number, title="Tin mug") for number in range(FEED_ITEMS)]
    items[position] = ITEM.format(number=position, title=title)
    path = work_folder() / "feed.xml"
    path.write_text(FEED.format(items="".join(items)), encoding="utf-8", errors="surrogatepass")
    try:
        with sources.open_source(str(path), "google-xml", lambda _: None, no_progress) as rows:
            found = list(rows)
    except ScoutError:
        return False
    assert len(found) == FEED_ITEMS
    ids = [row.texts["id"] for row in found if isinstance(row, Row) and "id" in row.texts]
    refused = len(found) - len(ids)
    assert refused <= 2
    others = [[str(number)] for number in range(FEED_ITEMS) if number != position]
    assert len([id for id in others if id in ids]) >= len(others) - refused
    return not refused


def check_sitemap(content: bytes) -> bool:
    """Read a sitemap: its addresses are texts that can be stored."""
    sitemap = parse_sitemap_file(content, f"{HOME}sitemap.xml")
    site = Site(HOME)
    for address in (*sitemap.pages, *sitemap.sitemaps, *sitemap.alternates):
        site.resolve(address, HOME)
    return not sitemap.problem


def check_archive(content: bytes) -> bool:
    """Read a WARC file: bodies are bounded, and every record is read or counted."""
    path = work_folder() / "pages.warc"
    path.write_bytes(content)
    skipped: Counter[str] = Counter()
    try:
        responses = list(read_responses(path, MAX_BODY, skipped))
    except ScoutError:
        return False
    for response in responses:
        assert response.body is None or len(response.body) <= MAX_BODY
    return bool(responses)


def check_neighbours(record: bytes) -> bool:
    """Read an archive with a damaged record between two others: these are read."""
    path = work_folder() / "pages.warc"
    path.write_bytes(
        RECORD.replace(b"/p/1", b"/p/first") + record + RECORD.replace(b"/p/1", b"/p/last")
    )
    skipped: Counter[str] = Counter()
    urls = [saved.url for saved in read_responses(path, MAX_BODY, skipped)]
    assert f"{HOME}p/first" in urls
    assert f"{HOME}p/last" in urls
    return len(urls) > 2


def check_page(case: tuple[bytes, str | None, str | None]) -> bool:
    """Read a page by heuristics and by rules, and digest it as the crawl does."""
    body, content_type, header = case
    digest = PageDigester(Site(HOME)).digest(body, content_type, PAGE, header, header)
    json.dumps(digest.as_json())
    if digest.is_hostile:
        return False
    document = Document(body, PAGE, content_type)
    values = read_by_heuristics(document)
    for attribute, found in values.items():
        assert normalise(attribute, found.value) is not None
    list(document.blocks)
    for rules in shop_rules():
        reading = read_page(document, rules)
        if reading.offer is not None:
            assert_storable(reading.offer.model_dump_json())
    return bool(values)


def check_script(text: str) -> bool:
    """Decode a script as JSON-LD, as JSON, as JavaScript, and as a list of named blocks."""
    things = list(schema_org_things(text))
    for _, thing in things:
        assert isinstance(thing, dict)
    parse_json(text)
    parse_javascript(text)
    CodeReader().named_data(text)
    return bool(things)


def check_learner(case: tuple[int, bytes, bytes]) -> bool:
    """Learn from pages of which two are mutated, then read all by the rules."""
    host, first, second = case
    examples = corpus_pages()[host][:LEARNT_PAGES]
    examples[0] = (examples[0][0], first, examples[0][2])
    examples[1] = (examples[1][0], second, examples[1][2])
    try:
        rules = learn_rules(examples, [(f"{HOME}about", second)])
        for url, body, _ in examples:
            read_page(Document(body, url), rules)
    except ScoutError:
        return False
    RuleSet.model_validate_json(rules.model_dump_json())
    return True


def check_duplicates(case: tuple[list[str], float]) -> bool:
    """Find duplicates by each method: pairs are of two rows, and no row is in two clusters."""
    texts, threshold = case
    pairs = 0
    for method in METHODS:
        found = deduplicate(texts, method=method, threshold=threshold)
        for pair in found.pairs:
            assert pair.left != pair.right
            assert 0 <= pair.similarity <= 1
        members = Counter(row for cluster in found.clusters for row in cluster)
        assert set(members.values()) <= {1}
        assert members.keys() <= set(range(len(texts)))
        pairs += len(found.pairs)
    return pairs > 0


def check_taught(case: tuple[list[str], tuple[str, ...]]) -> bool:
    """Decide a table by its columns: no row is in two groups, and pairs have probabilities."""
    cells, names = case
    rows = [*zip(*[iter(cells)] * len(names), strict=False)]
    if not rows:
        return False
    fields = tuple(map(list, zip(*rows, strict=True)))
    records = Records(fields, [" ".join(row) for row in rows], range(len(rows)), names)
    decision = decide(records, None, options=TaughtOptions(variants=ALL_RULES))
    members = Counter(row for group in decision.groups for row in group)
    assert set(members.values()) <= {1}
    assert all(0 <= similarity <= 1 for similarity in decision.result.similarity.tolist())
    return bool(decision.groups)


def assert_storable(text: str) -> None:
    """Assert that a database takes a text."""
    text.encode()
    assert "\x00" not in text


@cache
def work_folder() -> Path:
    """Return a folder of this process for files under test."""
    return Path(tempfile.mkdtemp(prefix="scout-fuzz-"))


def field_files(kind: str) -> list[bytes]:
    """Return the inputs of the corpus of one kind (see tests/field/README.md)."""
    return [path.read_bytes() for path in sorted((TESTS / "field" / kind).glob("*/input.*"))]


def field_lines(kind: str) -> list[str]:
    """Return the lines of the inputs of one kind."""
    return [line for content in field_files(kind) for line in content.decode().splitlines()]


@cache
def corpus_pages() -> list[list[tuple[str, bytes, dict[str, str]]]]:
    """Return the offer pages of the hosts of tests/corpus: URL, body and known values."""
    hosts = []
    for host in sorted(path for path in (TESTS / "corpus").iterdir() if path.is_dir()):
        pages = []
        for folder in sorted(path.parent for path in host.glob("*/page.html")):
            offer = json.loads((folder / "offer.json").read_text("utf-8"))
            if offer is not None:
                known = {name: value for name, value in offer.items() if value is not None}
                url = (folder / "url.txt").read_text("utf-8").strip()
                pages.append((url, (folder / "page.html").read_bytes(), known))
        if len(pages) >= LEARNT_PAGES:
            hosts.append(pages)
    return hosts


@cache
def shop_rules() -> list[RuleSet]:
    """Return the rules of the hosts of tests/corpus."""
    return [learn_rules(pages) for pages in corpus_pages()]


def page_bodies() -> list[bytes]:
    """Return the pages of tests/corpus and tests/field."""
    pages = [body for host in corpus_pages() for _, body, _ in host]
    return [*pages, *field_files("documents"), *field_files("offers"), *field_files("json_ld")]


def scripts() -> list[str]:
    """Return the contents of the scripts of all pages."""
    texts = []
    for body in page_bodies():
        for part in body.decode("utf-8", "replace").split("<script")[1:]:
            texts.append(part.partition(">")[2].partition("</script")[0])
    return texts


def parquet_feed() -> bytes:
    """Return a feed in the format Parquet."""
    stream = BytesIO()
    pl.DataFrame(
        {"id": ["1", "2"], "title": ["Mug", "Lamp"], "price": [1.5, None], "link": [PAGE, None]}
    ).write_parquet(stream)
    return stream.getvalue()


def archive_files() -> list[bytes]:
    """Return the archives of the corpus."""
    return [path.read_bytes() for path in sorted((TESTS / "field" / "warc").glob("*/input.*"))]


def make_targets() -> Iterator[Target]:
    """Yield all targets, the cheapest first."""
    lines = [*field_lines("values"), *field_lines("duplicates")]
    texts = one_of(mutated(lines, WORDS, MAX_LINE_EDITS), drawn_text)
    seeds = [*field_lines("urls"), PAGE, ""]
    links = one_of(mutated(seeds, LINKS, MAX_LINE_EDITS), drawn_text)
    yield Target("urls", 220, tuples(links, links), check_url)
    decimals, currencies = choice([None, ".", ","]), choice([None, "EUR", "KWD"])
    yield Target("values", 180, tuples(texts, decimals, currencies), check_value)
    yield Target("scripts", 100, mutated(scripts(), _as_texts(DATA)), check_script)
    feeds = mutated([*field_files("feeds"), parquet_feed()], [*MARKUP, *TABLE, *DATA])
    formats = [name for name in files.FORMATS if name not in ("rest", "sql")]
    yield Target("feeds", 90, tuples(feeds, choice(["auto", "auto", *formats])), check_feed)
    markup = [token for token in MARKUP if not any(mark in token for mark in ITEM_MARKS)]
    titles = mutated(["Tin mug", "Salt &amp; pepper <b>mill</b>"], [*WORDS, *_as_texts(markup)])
    yield Target("slips", 130, tuples(titles, choice(range(FEED_ITEMS))), check_slip)
    yield Target("sitemaps", 60, mutated(field_files("sitemaps"), MARKUP), check_sitemap)
    yield Target("archives", 90, mutated(archive_files(), ARCHIVE), check_archive)
    yield Target("neighbours", 114, mutated([RECORD], ARCHIVE), check_neighbours)
    labels = ["utf-8", "utf-16", "hex", "shift_jis", "iso-8859-1", "undefined", "x" * 50]
    headers = [*(f"text/html; charset={label}" for label in labels), "text/html", "", None]
    link_headers = ['</x>; rel="canonical"', "<//[>; rel=alternate; hreflang=de", "de-AT, en", "<"]
    pages = mutated(page_bodies(), [*MARKUP, *DATA])
    yield Target(
        "pages", 10, tuples(pages, choice(headers), choice([None, *link_headers])), check_page
    )
    thresholds = choice([0.05, 0.5, 0.8, 0.95, 1.0])
    yield Target("duplicates", 5, tuples(lists(texts, 12), thresholds), check_duplicates)
    names = choice([("title", "size", "volume"), ("name", "year"), ("model", "edition", "part")])
    cells = one_of(choice(MARKED_VALUES), texts)
    yield Target("taught", 5, tuples(lists(cells, 30), names), check_taught)
    shops = []
    for number, host in enumerate(corpus_pages()):
        host_pages = mutated([body for _, body, _ in host], [*MARKUP, *DATA])
        shops.append(tuples(choice([number]), host_pages, host_pages))
    yield Target("learner", 1, one_of(*shops), check_learner)


def _as_texts(tokens: Sequence[bytes]) -> list[str]:
    return [token.decode("utf-8", "replace") for token in tokens]
