"""The frontier, bodies and a whole crawl on PostgreSQL, where many crawlers share one database."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlmodel import Session, select

from catalog.errors import ConfigError, StoreError
from catalog.models import Crawl, Page, PageState, Run, Shop, utc_now
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.frontier import FetchOutcome, Frontier, FrontierLink
from catalog.storage.store import Store
from crawler.crawl import crawl_shop
from crawler.frontier.revisit import reset_for_revisit
from tests.catalog.storage import postgresql
from tests.crawler.server import page, serve

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
pytestmark = pytest.mark.postgresql_only

ROOT = "http://127.0.0.1:8000/"


@pytest.fixture
def frontier(store: Store, shop: Shop) -> Frontier:
    """The frontier of a shop during a run."""
    with store.write() as session:
        run = Run(shop_id=shop.id or 0)
        session.add(run)
    return Frontier(store, shop.id or 0, run.id)


def test_claims_pass_each_other_by(frontier: Frontier, store: Store, shop: Shop) -> None:
    """While one crawler's claim is still open, another gets the next pages and waits for
    nothing.
    """
    frontier.add(FrontierLink(f"{ROOT}{n}", priority=n) for n in range(6))
    with Session(store.engine) as session:
        best = (
            select(Page.url)
            .where(Page.state == PageState.PENDING)
            .order_by(text("priority DESC"))
            .limit(2)
        )
        held = list(session.exec(best.with_for_update(skip_locked=True)))
        assert held == [f"{ROOT}5", f"{ROOT}4"]
        assert [item.url for item in frontier.claim(3)] == [f"{ROOT}{n}" for n in (3, 2, 1)]
    assert [item.url for item in frontier.claim(3)] == [f"{ROOT}{n}" for n in (5, 4, 0)]


def test_many_crawlers_share_no_page(frontier: Frontier, store: Store, shop: Shop) -> None:
    """However many claim at once, every page is handed out once."""
    frontier.add(FrontierLink(f"{ROOT}{n}", priority=n % 3) for n in range(300))
    taken: list[int] = []

    def take() -> None:
        while pages := frontier.claim(7):
            taken.extend(item.id or 0 for item in pages)

    crawlers = [threading.Thread(target=take) for _ in range(4)]
    for crawler in crawlers:
        crawler.start()
    for crawler in crawlers:
        crawler.join(60)
    assert len(taken) == len(set(taken)) == 300


def test_crawlers_settle_the_same_links(frontier: Frontier, shop: Shop) -> None:
    """Crawlers that add the same links in opposite orders wait for each other, without a deadlock."""
    frontier.add(FrontierLink(f"{ROOT}page/{n}") for n in range(40))
    links = [FrontierLink(f"{ROOT}link/{n}") for n in range(400)]
    added: list[int] = []

    def settle(order: int) -> None:
        for claimed in frontier.claim(20):
            found = links[::order]
            added.append(
                frontier.record_results(
                    [FetchOutcome(claimed.id or 0, PageState.FETCHED, {}, found)]
                )
            )

    crawlers = [threading.Thread(target=settle, args=(order,)) for order in (1, -1)]
    for crawler in crawlers:
        crawler.start()
    for crawler in crawlers:
        crawler.join(60)
    assert (len(added), sum(added)) == (40, len(links))
    assert frontier.counts() == {"fetched": 40, "pending": len(links)}


def test_known_links_take_no_row_ids(frontier: Frontier) -> None:
    """Links that are known, as nearly all of a page are, use up no numbers of the sequence."""
    frontier.add([FrontierLink(ROOT)])
    for _ in range(100):
        frontier.add([FrontierLink(ROOT)])
    frontier.add([FrontierLink(ROOT + "a")])
    assert [page.id for page in frontier.claim(2)] == [1, 2]


def test_columns_of_all_types_are_settled(frontier: Frontier, store: Store) -> None:
    """Texts, numbers, times and JSON arrive as they were given, of some pages and None of others."""
    frontier.add(FrontierLink(f"{ROOT}{n}") for n in range(3))
    moment = utc_now()
    full = {"body": "ab", "size": 70_000, "fetched_at": moment, "alternates": {"de": "x"}}
    empty = dict.fromkeys(full)
    odd = {"body": "{\"'\\,}", "size": -1, "fetched_at": moment, "alternates": {"\u2028": "ä"}}
    given = [full, empty, odd]
    outcomes = [
        FetchOutcome(page.id or 0, PageState.FETCHED, columns)
        for page, columns in zip(frontier.claim(3), given, strict=True)
    ]
    frontier.record_results(outcomes)
    with store.read() as session:
        stored = session.exec(select(Page).order_by(Page.id)).all()
    assert [{name: getattr(page, name) for name in full} for page in stored] == given


def explain(store: Store, verb: str, action: Callable[[], object]) -> str:
    """Return the plan of the statement that contains a verb among those of an action."""
    executed: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        executed.append((statement, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    action()
    event.remove(store.engine, "before_cursor_execute", note)
    (chosen,) = [(statement, given) for statement, given in executed if verb in statement]
    with store.write() as session:
        rows = session.connection().exec_driver_sql(f"EXPLAIN {chosen[0]}", chosen[1])
        return "\n".join(row[0] for row in rows)


def test_claims_come_out_of_the_index(frontier: Frontier, store: Store) -> None:
    """A claim reads the index in its order and stops: nothing is sorted, however many pages are
    waiting.
    """
    frontier.add(FrontierLink(f"{ROOT}{n}", priority=n % 50) for n in range(5_000))
    with store.write() as session:
        session.connection().execute(text("ANALYZE page"))
    claim = explain(store, "UPDATE page", lambda: frontier.claim(16))
    assert "Index Scan using page_frontier" in claim
    assert "Sort" not in claim
    assert "Seq Scan" not in claim


def test_links_are_looked_up_in_the_index(frontier: Frontier, store: Store) -> None:
    """Known links are found one by one, also while nothing is known about a new table's pages."""
    frontier.add(FrontierLink(f"{ROOT}{n}") for n in range(5_000))
    links = [FrontierLink(f"{ROOT}{n}") for n in range(40)]
    insert = explain(store, "INSERT INTO page", lambda: frontier.add(links))
    assert "Index Scan using page_shop_id_url_key" in insert
    assert "Seq Scan" not in insert


def test_settled_whole(frontier: Frontier, store: Store, shop: Shop) -> None:
    """A page's state and its links are one transaction; known links are no new ones; a sitemap's
    date spares a page.
    """
    frontier.add([FrontierLink(ROOT), FrontierLink(ROOT + "a")])
    first, second = frontier.claim(2)
    reported = {"body": "x", "fetched_at": utc_now(), "status": 200}
    assert (
        frontier.record_results(
            [
                FetchOutcome(
                    first.id or 0,
                    PageState.FETCHED,
                    reported,
                    [FrontierLink(ROOT + "a"), FrontierLink(ROOT + "b")],
                )
            ]
        )
        == 1
    )
    with pytest.raises(Exception, match="no_such_column"):
        frontier.record_results(
            [
                FetchOutcome(
                    second.id or 0,
                    PageState.FETCHED,
                    {"no_such_column": 1},
                    [FrontierLink(ROOT + "c")],
                )
            ]
        )
    assert frontier.counts() == {"fetched": 1, "leased": 1, "pending": 1}
    assert (
        frontier.release(),
        frontier.explain_open("over the page limit"),
        frontier.count_requested(),
    ) == (
        1,
        2,
        1,
    )
    assert frontier.reasons() == {"over the page limit": 2}
    with store.write() as session:
        assert reset_for_revisit(session, shop.id or 0) == 0
    assert frontier.next_due() is not None


def test_a_crawl(settings: Settings, store: Store) -> None:
    """A shop is crawled into PostgreSQL, bodies, summary and all, and its pages are due again
    afterwards.
    """
    with serve() as site:
        site.routes["/"] = page("/a", "/b")
        site.routes |= {f"/{name}": page(title=name) for name in "ab"}
        with store.write() as session:
            shop = Shop(name="bench", url=site.url, allow_private=True)
            session.add(shop)
            session.flush()
            run = Run(shop_id=shop.id or 0)
            session.add(run)
        assert crawl_shop(settings, store, shop, run.id or 0).pages == {"fetched": 3}
        with store.write() as session:
            assert reset_for_revisit(session, shop.id or 0) == 3
    with store.read() as session:
        assert [item.pages for item in session.exec(select(Crawl))] == [{"fetched": 3}]
        assert all(
            BodyStore(settings.bodies).holds(item.body or "") for item in session.exec(select(Page))
        )


@pytest.mark.parametrize("name", ["postgresql", "postgres"])
def test_url_without_driver(settings: Settings, store: Store, name: str) -> None:
    """A URL that names no driver, as other programs write it, is opened by Scout's."""
    url = settings.database.replace("postgresql+psycopg", name)
    opened = Store.open(Settings.load(database_url=url))
    assert opened.engine.driver == "psycopg"
    opened.engine.dispose()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("ALTER TABLE shop RENAME TO gone", 'relation "shop" does not exist'),
        ("SET default_transaction_read_only = on", "cannot execute INSERT in a read-only"),
        ("SET ROLE pg_monitor", "permission denied for table shop"),
    ],
    ids=["no table", "read-only", "no permission"],
)
def test_database_to_repair(store: Store, damage: str, message: str) -> None:
    """A database that somebody has to repair is an error in one line."""

    @event.listens_for(store.engine, "connect")
    def damage_it(connection: Any, record: object) -> None:
        with suppress(psycopg.Error):
            connection.execute(damage)
        connection.commit()

    store.engine.dispose()

    def add_shop() -> None:
        with store.write() as session:
            session.add(Shop(name="a", url="https://a.example/"))

    with pytest.raises(StoreError, match=f"cannot be used: {message}") as caught:
        add_shop()
    assert "\n" not in str(caught.value)


def test_a_database_of_another_encoding(settings: Settings) -> None:
    """A database that does not know the encoding of its texts is refused in one line."""
    with postgresql.empty_database("ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'") as url:
        other = settings.model_copy(update={"database_url": url})
        with pytest.raises(ConfigError, match="is encoded in SQL_ASCII"):
            Store.open(other)
