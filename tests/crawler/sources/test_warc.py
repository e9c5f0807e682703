"""WARC files: read instead of the network, written from a crawl, and hostile ones."""

import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from time import process_time

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from catalog.errors import UsageError
from catalog.storage.bodies import BodyStore
from crawler.discovery.sitemaps import parse_date
from crawler.pages.languages import parse_link_header
from crawler.sources.warc_reader import MAX_HEADER_SIZE, SavedResponse, read_responses
from crawler.sources.warc_writer import write_warc
from tests.crawler.conftest import Bench
from tests.crawler.server import page, raw

HTML = {"Content-Type": "text/html; charset=utf-8"}


def _warc(*responses: tuple[str, int, dict[str, str], bytes], packed: bool = True) -> bytes:
    out = BytesIO()
    writer = WARCWriter(out, gzip=packed)
    writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "a crawler"}))
    for url, status, headers, body in responses:
        http = StatusAndHeaders(f"{status} Reason", list(headers.items()), protocol="HTTP/1.1")
        writer.write_record(
            writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=http)
        )
    return out.getvalue()


def _read(
    tmp_path: Path, data: bytes, max_size: int = 100_000, skipped: Counter[str] | None = None
) -> list[SavedResponse]:
    file = tmp_path / "x.warc.gz"
    file.write_bytes(data)
    return list(read_responses(file, max_size, skipped))


def _record(
    http: bytes,
    *,
    url: str = "https://a.example/x",
    length: str | None = None,
    kind: str = "response",
    head: bytes | None = None,
) -> bytes:
    """A record byte by byte, with such slips as the test needs."""
    if head is None:
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n".encode()
        head += f"Content-Length: {len(http) if length is None else length}\r\n\r\n".encode()
    return head + http + b"\r\n\r\n"


def _http(body: bytes = b"<html>x", *headers: str, status: str = "HTTP/1.1 200 OK") -> bytes:
    return "\r\n".join([status, *headers, "", ""]).encode("latin-1") + body


SMALL = [("https://a.example/1", 200, HTML, b"<html>one"), ("https://a.example/2", 404, {}, b"")]


DICTIONARY = b"WARC/1.0 WARC-Type: response WARC-Target-URI: https://a.example/ <html>"


def _zstd(*members: bytes, dictionary: bytes | None = None, pack_dictionary: bool = False) -> bytes:
    """A Zstandard archive of members, with a dictionary in its first frame."""
    if dictionary is None:
        return b"".join(map(zstandard.compress, members))
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(dictionary))
    frame = zstandard.compress(dictionary) if pack_dictionary else dictionary
    head = b"\x5d\x2a\x4d\x18" + len(frame).to_bytes(4, "little") + frame
    return head + b"".join(map(packer.compress, members))


def _records_of(archive: bytes) -> list[bytes]:
    """Records of a plain archive."""
    _, *others = archive.split(b"WARC/1.0\r\n")
    return [b"WARC/1.0\r\n" + record for record in others]


PLAIN = _warc(*SMALL, packed=False)


@pytest.mark.parametrize(
    "data",
    [
        _warc(*SMALL),
        PLAIN,
        gzip.compress(PLAIN),
        _zstd(*_records_of(PLAIN)),
        _zstd(PLAIN),
        _zstd(*_records_of(PLAIN), dictionary=DICTIONARY),
        _zstd(*_records_of(PLAIN), dictionary=DICTIONARY, pack_dictionary=True),
    ],
    ids=["gzip", "plain", "gzip whole", "zstd", "zstd whole", "dictionary", "packed dictionary"],
)
def test_plain_and_packed(tmp_path: Path, data: bytes) -> None:
    """Records packed one by one, the file packed, or neither: the responses are the same."""
    responses = _read(tmp_path, data)
    assert [(saved.url, saved.status, saved.body) for saved in responses] == [
        ("https://a.example/1", 200, b"<html>one"),
        ("https://a.example/2", 404, b""),
    ]


def test_transfer_codings_are_undone(tmp_path: Path) -> None:
    """A body is the page's, whether the server sent it gzipped or in chunks."""
    packed = (
        "https://a.example/g",
        200,
        {**HTML, "Content-Encoding": "gzip"},
        gzip.compress(b"<html>g"),
    )
    chunks = (
        "https://a.example/c",
        200,
        {**HTML, "Transfer-Encoding": "chunked"},
        b"7\r\n<html>c\r\n0\r\n\r\n",
    )
    assert [saved.body for saved in _read(tmp_path, _warc(packed, chunks))] == [
        b"<html>g",
        b"<html>c",
    ]


def test_bombs(tmp_path: Path) -> None:
    """A body that unpacks beyond the limit is dropped; endless headers are refused."""
    bomb = (
        "https://a.example/b",
        200,
        {**HTML, "Content-Encoding": "gzip"},
        gzip.compress(b"x" * 20_000_000),
    )
    assert [(saved.url, saved.body) for saved in _read(tmp_path, _warc(bomb, SMALL[0]))] == [
        ("https://a.example/b", None),
        ("https://a.example/1", b"<html>one"),
    ]
    for head in (
        b"WARC/1.0\r\nX: " + b"A" * (2 * MAX_HEADER_SIZE),
        b"WARC/1.0\r\n" + b"A: b\r\n" * (MAX_HEADER_SIZE // 3),
    ):
        with pytest.raises(UsageError, match="head is longer"):
            _read(tmp_path, gzip.compress(head))


NO_WARC = {
    "empty": b"",
    "text": b"hello\n" * 100,
    "empty gzip": gzip.compress(b""),
    "broken gzip": b"\x1f\x8bnonsense",
    "empty zstd": zstandard.compress(b""),
    "broken zstd": b"\x28\xb5\x2f\xfdnonsense",
    "broken dictionary": b"\x5d\x2a\x4d\x18\x09\0\0\0\x28\xb5\x2f\xfdwrong",
    "dictionary without an end": b"\x5d\x2a\x4d\x18\xff\xff\xff\xffabc",
}


@pytest.mark.parametrize("data", NO_WARC.values(), ids=NO_WARC)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """A file of another kind is refused with its name."""
    with pytest.raises(UsageError, match=r"x\.warc\.gz is no WARC file"):
        _read(tmp_path, data)


@pytest.mark.parametrize("packed", [True, False])
def test_cut_off(tmp_path: Path, packed: bool) -> None:
    """A file that ends within a record is read up to that record."""
    whole = _warc(*SMALL, ("https://a.example/3", 200, HTML, bytes(range(256)) * 20), packed=packed)
    assert [saved.url[-1] for saved in _read(tmp_path, whole[:-500])] == ["1", "2"]


PAGE = b"<html><title>Page</title>" + bytes(range(256)) * 10
CHUNKED = b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in (PAGE[:9], PAGE[9:]))
GZIP, DEFLATE, BR, ZSTD = (
    f"Content-Encoding: {name}" for name in ("gzip", "deflate", "br", "zstd")
)
CODED = [
    ("br", _http(brotli.compress(PAGE), BR)),
    ("zstd", _http(zstandard.compress(PAGE), ZSTD)),
    ("zstd in frames", _http(zstandard.compress(PAGE[:99]) + zstandard.compress(PAGE[99:]), ZSTD)),
    ("gzip", _http(gzip.compress(PAGE), "content-encoding: X-GZIP")),
    ("gzip in members", _http(gzip.compress(PAGE[:99]) + gzip.compress(PAGE[99:]), GZIP)),
    ("gzip with bytes behind it", _http(gzip.compress(PAGE) + b"\0\0\0", GZIP)),
    ("deflate", _http(zlib.compress(PAGE), DEFLATE)),
    ("deflate without a header", _http(zlib.compress(PAGE, wbits=-15), DEFLATE)),
    ("two codings", _http(gzip.compress(brotli.compress(PAGE)), "Content-Encoding: br, gzip")),
    ("two headers", _http(gzip.compress(brotli.compress(PAGE)), BR, GZIP)),
    ("chunks", _http(CHUNKED + b"0\r\n\r\n", "Transfer-Encoding: chunked")),
    ("chunks with a trailer", _http(CHUNKED + b"0\r\nA: b\r\n\r\n", "Transfer-Encoding: Chunked")),
    ("chunks without an end", _http(CHUNKED, "Transfer-Encoding: chunked")),
    ("no chunks", _http(PAGE, "Transfer-Encoding: chunked")),
    *((f"not {name}", _http(PAGE, f"Content-Encoding: {name}")) for name in ("gzip", "br", "zstd")),
    *((f"no coding {name!r}", _http(PAGE, f"Content-Encoding: {name}")) for name in ("", "UTF-8")),
    ("unknown coding, not applied", _http(PAGE, "Content-Encoding: fancy")),
    ("no reason", _http(PAGE, status="HTTP/1.1 200")),
    ("HTTP/2", _http(PAGE, status="HTTP/2 200 ")),
    ("lines of one byte", b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + PAGE),
    ("a header without a colon", _http(PAGE, "nonsense", "A: b", " continued")),
    ("a header of no text", _http(PAGE, "A: \xff\x00\x07")),
    ("a wrong length", _http(PAGE, "Content-Length: abc")),
]


@pytest.mark.parametrize(("name", "http"), CODED, ids=[case[0] for case in CODED])
def test_bodies(tmp_path: Path, name: str, http: bytes) -> None:
    """A body is the page's, whatever codings it has, or only claims to have."""
    skipped = Counter[str]()
    assert [saved.body for saved in _read(tmp_path, _record(http), skipped=skipped)] == [PAGE]
    assert not skipped


FIRST = _record(_http(b"<html>1"), url="https://a.example/1")
LAST = _record(_http(b"<html>2"), url="https://a.example/2")
SPOILT = _record(_http(b"<html>x" * 50))
SKIPPED = [
    (
        "unknown coding",
        _record(_http(b"\0\1\2", "Content-Encoding: fancy")),
        "unknown coding of the body",
    ),
    (
        "compress",
        _record(_http(b"\x1f\x9d", "Content-Encoding: compress")),
        "unknown coding of the body",
    ),
    ("gzip cut off", _record(_http(gzip.compress(PAGE)[:-20], GZIP)), "broken body"),
    ("deflate cut off", _record(_http(zlib.compress(PAGE)[:-20], DEFLATE)), "broken body"),
    ("br cut off", _record(_http(brotli.compress(PAGE)[:-20], BR)), "broken body"),
    ("zstd cut off", _record(_http(zstandard.compress(PAGE)[:-20], ZSTD)), "broken body"),
    ("br that is none", _record(_http(b"\xff" * 50, BR)), "broken body"),
    ("chunk cut off", _record(_http(CHUNKED[:-20], "Transfer-Encoding: chunked")), "broken body"),
    (
        "chunk of no size",
        _record(_http(CHUNKED + b"zz\r\n", "Transfer-Encoding: chunked")),
        "broken body",
    ),
    *(
        (f"status {code}", _record(_http(status=f"HTTP/1.1 {code}")), "absurd status code")
        for code in (
            "0",
            "99",
            "600",
            "999",
            "99999999999999999999",
            "-1",
            "abc",
            "\u00b2\u00b2\u00b2",
            "2e2",
            "",
        )
    ),
    ("no status line", _record(b"<html>x"), "no http response"),
    ("empty", _record(b""), "no http response"),
    ("HTTP/0.9", _record(_http(status="HTTP 200 OK")), "no http response"),
    ("no address", _record(_http(), url=""), "record without an address of the web"),
    ("a name", _record(b"x", url="dns:a.example"), "record without an address of the web"),
    *(
        (f"type {kind!r}", _record(_http(), kind=kind), f"record of type {kind or 'unknown'}")
        for kind in ("revisit", "resource", "conversion", "continuation", "x-own", "")
    ),
    *(
        (f"length {length!r}", _record(_http(), length=length), "record with a wrong length")
        for length in ("", "abc", "-5", "1e3", "9" * 5_000, "3", "20", "900", "99999999999")
    ),
    (
        "no length",
        _record(_http(), head=b"WARC/1.0\r\nWARC-Type: response\r\n\r\n"),
        "record with a wrong length",
    ),
    (
        "a length up to beyond the next record",
        b"WARC/\nContent-Length:99999\ng\n\n",
        "record with a wrong length",
    ),
    ("no end of the head", b"WARC/1.0\r\nWARC-Type: response\r\n", "record with a broken head"),
    ("other version", b"WARC\r\nWARC-Type: response\r\n\r\n", "record with a broken head"),
    ("other bytes", b"\0\1\2" * 30_000 + b"\n", "record with a broken head"),
    ("a long head", b"WARC/1.0\r\nA: " + b"a" * 2_000_000 + b"\r\n\r\n", "head is longer"),
]


@pytest.mark.parametrize(("name", "record", "reason"), SKIPPED, ids=[case[0] for case in SKIPPED])
def test_records_left_out(tmp_path: Path, name: str, record: bytes, reason: str) -> None:
    """A record that cannot be read is counted with its reason; those around it are read."""
    for data in (FIRST + record + LAST, gzip.compress(FIRST + record + LAST)):
        skipped = Counter[str]()
        read = _read(tmp_path, data, skipped=skipped)
        assert [saved.url[-1] for saved in read] == ["1", "2"]
        assert sum(skipped.values()) == 1
        assert reason in next(iter(skipped))
    members = b"".join(map(gzip.compress, (FIRST, record, LAST)))
    assert [saved.url[-1] for saved in _read(tmp_path, members)] == ["1", "2"]


MEMBER = gzip.compress(SPOILT)
DAMAGED = [
    ("cut off", MEMBER[:-30]),
    ("without a checksum", MEMBER[:-8]),
    ("a wrong checksum", MEMBER[:-8] + b"\0" * 8),
    ("a wrong byte", MEMBER[:40] + b"\xff\xff" + MEMBER[42:]),
    ("only the first bytes", MEMBER[:11]),
    ("zeros", b"\0" * 5_000),
    ("other bytes", b"abc" * 5_000),
]


@pytest.mark.parametrize(("name", "member"), DAMAGED, ids=[case[0] for case in DAMAGED])
@pytest.mark.parametrize("size", [0, 300_000])
def test_damaged_members(tmp_path: Path, name: str, member: bytes, size: int) -> None:
    """A packed record that is damaged costs no other one."""
    noise = _record(
        _http(b"<html>" + zlib.compress(bytes(range(256)) * size)[:size]), url="https://a.example/n"
    )
    members = [gzip.compress(FIRST), member, gzip.compress(noise), gzip.compress(LAST)]
    read = _read(tmp_path, b"".join(members), max_size=1_000_000)
    assert [saved.url[-1] for saved in read] == ["1", "n", "2"]


ZSTD_MEMBER = zstandard.compress(SPOILT)
DAMAGED_ZSTD = [
    ("cut off", ZSTD_MEMBER[:-30]),
    ("a wrong byte", ZSTD_MEMBER[:40] + b"\xff\xff" + ZSTD_MEMBER[42:]),
    ("only the first bytes", ZSTD_MEMBER[:6]),
    ("zeros", b"\0" * 5_000),
]


@pytest.mark.parametrize(("name", "member"), DAMAGED_ZSTD, ids=[case[0] for case in DAMAGED_ZSTD])
@pytest.mark.parametrize("size", [0, 300_000])
def test_damaged_frames(tmp_path: Path, name: str, member: bytes, size: int) -> None:
    """A damaged frame of Zstandard costs no record behind the next one."""
    noise = _record(
        _http(b"<html>" + zlib.compress(bytes(range(256)) * size)[:size]), url="https://a.example/n"
    )
    members = [FIRST, noise, LAST]
    packed = list(map(zstandard.compress, members))
    skipped: Counter[str] = Counter()
    read = _read(
        tmp_path, packed[0] + member + b"".join(packed[1:]), max_size=1_000_000, skipped=skipped
    )
    assert [saved.url[-1] for saved in read] == ["1", "n", "2"]
    assert skipped or name == "zeros"


def test_large_blocks(tmp_path: Path) -> None:
    """A record of any size is stepped over; one with an absurd length ends where the next begins."""
    large = _record(_http(b"x" * 3_000_000), url="https://a.example/n")
    absurd = _record(_http(b"x" * 3_000_000), url="https://a.example/n", length="9" * 18)
    read = _read(tmp_path, FIRST + large + LAST)
    assert [(saved.url[-1], saved.body is None) for saved in read] == [
        ("1", False),
        ("n", True),
        ("2", False),
    ]
    assert [saved.url[-1] for saved in _read(tmp_path, FIRST + absurd + LAST)] == ["1", "2"]


def test_archive_in_a_page(tmp_path: Path) -> None:
    """A page that quotes a record is read whole."""
    quoting = _record(_http(b"<html><pre>" + LAST + b"</pre>"), url="https://a.example/q")
    assert [saved.url[-1] for saved in _read(tmp_path, FIRST + quoting + LAST)] == ["1", "q", "2"]


def test_arc(tmp_path: Path) -> None:
    """Files of the format before WARC are read as well."""

    def block(url: str, data: bytes, length: int | None = None) -> bytes:
        size = len(data) if length is None else length
        return f"{url} 127.0.0.1 20260501100000 text/html {size}\n".encode() + data + b"\n"

    head = block(
        "filedesc://x.arc",
        b"1 0 A crawler\nURL IP-address Archive-date Content-type Archive-length\n",
    )
    first, wrong = block("http://a.example/1", _http()), block("http://a.example/n", _http(), 9_999)
    last = block("http://a.example/2", _http())
    for data in (head + first + last, head + first + wrong + last):
        read = _read(tmp_path, data)
        assert [saved.url[-1] for saved in read] == ["1", "2"]
        assert {parse_date(saved.date) for saved in read} == {datetime(2026, 5, 1, 10, tzinfo=UTC)}


def test_links_in_several_headers(tmp_path: Path) -> None:
    """Each `Link` header of a response counts, as from the network; of other headers the last one does."""
    http = _http(
        b"<html>", "Link: </a.css>; rel=preload", "Link: </x>; rel=canonical", "ETag: 1", "ETag: 2"
    )
    (saved,) = _read(tmp_path, _record(http))
    assert parse_link_header(saved.headers["link"]).canonical == "/x"
    assert saved.headers["etag"] == "2"


# Functions, so that only the process that runs a test makes its archive, of up to half a gigabyte.
HOSTILE: list[Callable[[], bytes]] = [
    lambda: b"\x1f\x8b\x08" * 300_000,
    lambda: gzip.compress(b"") * 100_000,
    lambda: FIRST + b"WARC/1.0\r\n" * 200_000,
    lambda: FIRST + b"\nWARC/1.0\r\nA:" * 100_000,
    lambda: FIRST + b"WARC/1.0\r\nContent-Length: 5\r\n\r\n" * 50_000,
    lambda: FIRST + b"WARC/1.0\r\nContent-Length: 999999\r\n\r\n" * 50_000,
    lambda: FIRST + b"WARC/1.0\r\nWARC-Type: response1 2" * 30_000,
    lambda: FIRST + b"http://a b " * 200_000,
    lambda: FIRST + b"\n" * 2_000_000,
    lambda: _record(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 150_000),
    lambda: _record(b"HTTP/1.1 200 OK\r\nA: b\r\n" + b" \r" * 450_000),
    lambda: _record(_http(b"1\r\na\r\n" * 15_000, "Transfer-Encoding: chunked")),
    lambda: _record(_http(brotli.compress(b"a" * 50_000_000, quality=1), BR)),
    lambda: _record(_http(zstandard.compress(b"a" * 50_000_000), ZSTD)),
    lambda: zstandard.compress(FIRST + b"a" * 500_000_000),
    lambda: zstandard.compress(b"") * 100_000,
    lambda: b"\x28\xb5\x2f\xfd" * 300_000,
]


# Numbers are their names: packed data may hold the time, and names have to be the same in each process.
@pytest.mark.parametrize("make", HOSTILE, ids=[str(number) for number in range(len(HOSTILE))])
def test_hostile_archives(tmp_path: Path, make: Callable[[], bytes]) -> None:
    """An archive made to cost time costs a few seconds at most, and no exception but ours."""
    data = make()
    started = process_time()
    with suppress(UsageError):
        for saved in _read(tmp_path, data):
            assert len(saved.body or b"") <= 1_000_000
    assert process_time() - started < 10


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever bytes are changed, no exception but ours is raised, and the first record is read."""
    middle = data.draw(st.sampled_from([SPOILT, *(record for _, record, _ in SKIPPED[:12])]))
    packed = data.draw(st.sampled_from([bytes, gzip.compress, zstandard.compress]))
    whole = bytearray(b"".join(packed(record) for record in (FIRST, middle, LAST)))
    first = len(packed(FIRST))
    for _ in range(data.draw(st.integers(1, 5))):
        position = data.draw(st.integers(first + 8, len(whole) - 1))
        whole[position : position + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
    read = _read(tmp_path_factory.getbasetemp(), bytes(whole))
    assert read[0].url == "https://a.example/1"


def test_read_in_place_of_the_net(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """Responses of the shop's site become its pages, the last good one of each, without a request."""
    made = make_bench()
    root = made.server.url.rstrip("/")
    data = _warc(
        (f"{root}/", 200, HTML, b"<title>Root</title><link rel=canonical href=/home>"),
        (f"{root}/a?utm_source=x", 200, HTML, b"<html><title>A</title>"),
        (f"{root}/a", 503, {}, b""),
        (f"{root}/moved", 301, {"Location": "/a"}, b""),
        (f"{root}/gone", 404, {}, b""),
        (f"{root}/pic", 200, {"Content-Type": "image/png"}, b"\x89PNG"),
        (f"{root}/long", 200, HTML, b"x" * 400_000),
        ("https://elsewhere.example/", 200, HTML, b"<html>"),
    )
    (tmp_path / "pages.warc.gz").write_bytes(data)
    for _ in range(2):
        crawled = made.crawl(source=str(tmp_path / "pages.warc.gz"))
        assert made.states() == {
            "/": ("fetched", None),
            "/a": ("fetched", None),
            "/moved": ("redirected", "redirect"),
            "/gone": ("gone", "http 404"),
            "/pic": ("refused", "not html"),
            "/long": ("refused", "too large"),
        }
    assert crawled.pages == {"fetched": 2, "redirected": 1, "gone": 1, "refused": 2}
    assert crawled.reasons["archive: other host"] == 1
    assert made.pages()["/"].canonical == f"{root}/home"
    assert made.pages()["/moved"].canonical == f"{root}/a"
    assert not made.server.hits


def test_written_and_read_again(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """A crawl written to a file opens with warcio, and reads as the same pages in another store."""
    made = make_bench()
    made.server.routes |= {
        "/": page("/a", "/b", "/old", title="Root"),
        "/a": raw(
            "<html><title>Größe</title>".encode("latin-1"), "text/html; charset=latin-1", ETag='"1"'
        ),
        "/b": page(title="B"),
        "/old": raw(b"", status=301, Location="/b"),
    }
    made.crawl()
    file = tmp_path / "crawl.warc.gz"
    (tmp_path / "crawl.warc.gz.part").write_bytes(b"left by a kill")
    exported = write_warc(made.settings, made.store, made.shop, file)
    assert (exported.pages, exported.bytes) == (4, file.stat().st_size)
    assert sorted(p.name for p in tmp_path.glob("crawl*")) == ["crawl.warc.gz"]
    with file.open("rb") as opened:
        records = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(opened)
        ]
    assert [kind for kind, _ in records] == ["warcinfo", *["response"] * 4]
    before = {
        path: (p.state, p.body, p.content_type, p.canonical, p.etag)
        for path, p in made.pages().items()
        if p.status
    }
    made.server.hits.clear()
    made.shop.name = "again"
    made.crawl(source=str(file))
    after = {
        path: (p.state, p.body, p.content_type, p.canonical, p.etag)
        for path, p in made.pages().items()
        if p.status
    }
    assert {path: after[path] for path in ("/", "/a", "/b", "/old")} == {
        path: before[path] for path in ("/", "/a", "/b", "/old")
    }
    assert b"Gr\xf6\xdfe" in BodyStore(made.settings.bodies).get(str(after["/a"][1]))
    assert not made.server.hits


def test_nothing_to_write(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """A shop without pages, and a place that cannot be written, are named; no half file stays."""
    made = make_bench()
    with pytest.raises(UsageError, match="no crawled pages"):
        write_warc(made.settings, made.store, made.shop, tmp_path / "x.warc")
    (tmp_path / "file").touch()
    for file in (
        tmp_path / "none" / "x.warc",
        tmp_path / "file" / "x.warc",
        tmp_path / ("x" * 300),
    ):
        with pytest.raises(UsageError, match="cannot be written"):
            write_warc(made.settings, made.store, made.shop, file)
    assert not list(tmp_path.glob("x.warc*"))
