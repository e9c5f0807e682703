"""Page bodies in S3: a whole crawl and its reading, credentials, and a store that cannot answer."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.errors import BodiesUnreachable, ConfigError, StoreError
from catalog.models import Page, Run, Shop, StoredRules
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore, body_hash
from catalog.storage.store import Store
from crawler.crawl import crawl_shop
from crawler.store.body_repair import repair_bodies
from parser.parse_job import parse_shop
from parser.rules.model import RuleSet
from tests.crawler.server import page, serve

BUCKET = "s3://pages/shops"
# The server of moto, which takes seconds to import.
SERVER = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The address of an S3 server on this machine, with the bucket `pages`."""
    for name in ("moto", "s3fs"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install moto[server] s3fs")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def bucket(
    endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[pytest.MonkeyPatch]:
    """An empty bucket; the address and the credentials are in the environment and a file."""
    import fsspec

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    credentials = tmp_path / "credentials"
    credentials.write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(credentials))
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    # Instances are shared, with the address that they were made with.
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    files.mkdir("pages")
    yield monkeypatch
    files.rm("pages", recursive=True)
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the S3 server does not start")


def test_bodies(bucket: pytest.MonkeyPatch) -> None:
    """Bodies are stored by one request each, read back, and missed where they are missing."""
    bodies = BodyStore(BUCKET)
    name = bodies.put(b"<p>page</p>" * 100)
    assert bodies.get(name) == b"<p>page</p>" * 100
    assert (bodies.holds(name), bodies.holds(name, verify=False)) == (True, True)
    missing = body_hash(b"another")
    assert not bodies.holds(missing)
    assert not bodies.holds(missing, verify=False)
    with pytest.raises(StoreError, match="missing or damaged"):
        bodies.get(missing)


def test_crawl_and_parse(bucket: pytest.MonkeyPatch, settings: Settings, store: Store) -> None:
    """A shop is crawled into a bucket by processes without secrets, and read from it."""
    stored = settings.model_copy(update={"bodies_url": BUCKET})
    with serve() as site:
        site.routes["/"] = page("/a", "/b")
        site.routes |= {f"/{name}": page(title=name) for name in "ab"}
        with store.write() as session:
            shop = Shop(name="bench", url=site.url, allow_private=True)
            session.add(shop)
            session.flush()
            run = Run(shop_id=shop.id or 0)
            session.add(run)
            rules = RuleSet().to_json()
            session.add(StoredRules(shop_id=shop.id or 0, version=1, rules=rules))
        assert crawl_shop(stored, store, shop, run.id or 0).pages == {"fetched": 3}
    bodies = BodyStore(BUCKET)
    with store.read() as session:
        names = [name or "" for name in session.exec(select(Page.body))]
    assert all(bodies.holds(name) for name in names)
    assert not (settings.data_dir / "bodies").exists()
    parse_shop(stored, store, shop, run.id or 0)
    with store.read() as session:
        readings = session.exec(select(Page.rules_version, Page.read_reason)).all()
    assert {version for version, _ in readings} == {1}
    assert not any("missing or damaged" in (reason or "") for _, reason in readings)
    assert repair_bodies(store, shop.id or 0, bodies) == 0
    bodies._files.rm_file(bodies._path(names[0]))
    assert repair_bodies(store, shop.id or 0, bodies) == 1


def test_unreachable(bucket: pytest.MonkeyPatch, settings: Settings, store: Store) -> None:
    """A store that refuses to answer is a clear error: no page is missing or damaged by it."""
    name = BodyStore(BUCKET).put(b"page")
    nowhere = BodyStore("s3://no-such-bucket/x")
    with pytest.raises(StoreError, match="cannot be written to no-such-bucket/x"):
        nowhere.put(b"page")
    bucket.setattr("s3fs.S3FileSystem.retries", 1)
    bucket.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    bucket.setenv("AWS_MAX_ATTEMPTS", "1")
    BodyStore(BUCKET)._files.clear_instance_cache()
    lost = BodyStore(BUCKET)
    for ask in (lost.get, lost.holds, lambda name: lost.holds(name, verify=False)):
        with pytest.raises(BodiesUnreachable, match="page bodies in pages/shops cannot be reached"):
            ask(name)
    with pytest.raises(StoreError, match="cannot be reached"):
        lost.put(b"page")


@pytest.mark.parametrize("url", ["no-such-scheme://x", "abfs://container/x"])
def test_missing_package(url: str) -> None:
    """A scheme that nothing serves is a wrong setting."""
    with pytest.raises(ConfigError, match="setting 'bodies_url'"):
        BodyStore(url)
