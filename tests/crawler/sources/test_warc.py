"""WARC files: read instead of the network, written from a crawl, and hostile ones."""

import gzip
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from catalog.errors import UsageError
from catalog.storage.bodies import BodyStore
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


def _read(tmp_path: Path, data: bytes, max_size: int = 100_000) -> list[SavedResponse]:
    file = tmp_path / "x.warc.gz"
    file.write_bytes(data)
    return list(read_responses(file, max_size))


SMALL = [("https://a.example/1", 200, HTML, b"<html>one"), ("https://a.example/2", 404, {}, b"")]


@pytest.mark.parametrize(
    "data", [_warc(*SMALL), _warc(*SMALL, packed=False), gzip.compress(_warc(*SMALL, packed=False))]
)
def test_plain_and_packed(tmp_path: Path, data: bytes) -> None:
    """Records gzipped one by one, the file gzipped, or neither: the responses are the same."""
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


NO_WARC = [b"", b"hello\n" * 100, gzip.compress(b""), b"\x1f\x8bnonsense"]


@pytest.mark.parametrize("data", NO_WARC, ids=["empty", "text", "empty gzip", "broken gzip"])
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """A file of another kind is refused with its name."""
    with pytest.raises(UsageError, match=r"x\.warc\.gz is no WARC file"):
        _read(tmp_path, data)


@pytest.mark.parametrize("packed", [True, False])
def test_cut_off(tmp_path: Path, packed: bool) -> None:
    """A file that ends within a record is read up to that record."""
    whole = _warc(*SMALL, ("https://a.example/3", 200, HTML, bytes(range(256)) * 20), packed=packed)
    assert [saved.url[-1] for saved in _read(tmp_path, whole[:-500])] == ["1", "2"]


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
    with pytest.raises(UsageError, match="cannot be written"):
        write_warc(made.settings, made.store, made.shop, tmp_path / "none" / "x.warc")
    assert not list(tmp_path.glob("x.warc*"))
