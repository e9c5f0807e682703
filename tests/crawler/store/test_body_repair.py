"""Power cuts: missing and damaged bodies are fetched again, others are not, and nothing is stored twice."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlmodel import select

from catalog.models import Page, utc_now
from catalog.storage.bodies import BodyStore, body_hash
from catalog.storage.store import Store
from crawler.crawl import crawl_shop
from crawler.store.body_repair import repair_bodies
from tests.crawler.conftest import Bench
from tests.crawler.server import page
from tests.crawler.test_restart import PRODUCTS, fill, kill_midway


def sound(made: Bench, bodies: BodyStore) -> bool:
    """Whether every fetched page of the shop has the body that its row names, and each address is one row."""
    with made.store.read() as session:
        rows = [row for row in session.exec(select(Page)) if row.state == "fetched"]
    whole = all(body_hash(bodies.get(row.body or "")) == row.body for row in rows)
    return whole and len({row.url for row in rows}) == len(rows) == PRODUCTS + 1


@pytest.mark.sqlite_only
def test_power_cut(make_bench: Callable[..., Bench], tmp_path: Path) -> None:
    """The database loses the end of its log, bodies are missing, empty, cut or zeros: after it all pages are there."""
    made, chance = make_bench(), random.Random(5)
    fill(made)
    made.server.delay = 0.01
    with made.store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    # On a busy machine, few of the pages that were asked for are stored.
    kill_midway(made, bodies=10)
    made.settings = made.settings.model_copy(update={"data_dir": tmp_path / "after"})
    shutil.copytree(tmp_path / "var", tmp_path / "after", ignore=shutil.ignore_patterns("*-shm"))
    log = tmp_path / "after" / "scout.db-wal"
    os.truncate(log, chance.randrange(log.stat().st_size))
    files = sorted(Path(made.settings.bodies).rglob("*.zst"))
    for file, damage in zip(chance.sample(files, 8), range(8), strict=True):
        whole = file.read_bytes()
        file.write_bytes(
            [b"", whole[:-9], bytes(len(whole)), whole[:9] + bytes(len(whole) - 9)][damage % 4]
        )
    chance.choice(files).unlink()
    made.store = Store.open(made.settings)
    assert (
        crawl_shop(made.settings, made.store, made.shop, made.run_id).pages["fetched"]
        == PRODUCTS + 1
    )
    assert sound(made, BodyStore(made.settings.bodies))


def test_undamaged_bodies_are_not_fetched_again(make_bench: Callable[..., Bench]) -> None:
    """Only the page with a damaged body is due again, without its date, so that it is sent in full."""
    made = make_bench()
    fill(made)
    made.crawl()
    bodies = BodyStore(made.settings.bodies)
    lost = made.pages()["/p/7"]
    assert repair_bodies(made.store, made.shop.id or 0, bodies) == 0
    Path(made.settings.bodies, (lost.body or "")[:2], f"{(lost.body or '')[2:]}.zst").write_bytes(
        b""
    )
    made.crawl()
    assert [made.server.hits[f"/p/{number}"] for number in (6, 7, 8)] == [1, 2, 1]
    assert sound(made, bodies)


def test_all_bodies_gone(make_bench: Callable[..., Bench]) -> None:
    """A page store that was lost is filled again."""
    made = make_bench()
    made.server.routes |= {"/": page("/a"), "/a": page(title="A")}
    made.crawl()
    shutil.rmtree(made.settings.bodies)
    assert made.crawl().pages == {"fetched": 2}
    assert all(BodyStore(made.settings.bodies).get(row.body or "") for row in made.pages().values())


def test_damaged_body_under_a_name(tmp_path: Path) -> None:
    """A body is written again if the file of its name is damaged."""
    bodies, body = BodyStore(str(tmp_path)), b"<html>whole</html>" * 9
    name = bodies.put(body)
    (file,) = tmp_path.rglob("*.zst")
    for damage in (b"", file.read_bytes()[:-1], bytes(file.stat().st_size)):
        file.write_bytes(damage)
        assert not bodies.holds(name)
        assert bodies.put(body) == name
        assert bodies.holds(name)
        assert bodies.get(name) == body
    assert not bodies.holds(body_hash(b"another"))
    assert not bodies.holds(body_hash(b"another"), verify=False)
    assert utc_now() is not None
