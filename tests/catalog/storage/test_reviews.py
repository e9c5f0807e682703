"""The log of review decisions: decisions of earlier versions get a step each."""

from collections.abc import Callable

from alembic import command
from alembic.config import Config
from sqlmodel import select

from catalog.models import Review, ReviewChange
from catalog.runtime.settings import Settings
from catalog.storage.reviews import (
    ReviewEntry,
    count_steps,
    mark_undone,
    read_last_step,
    read_open_changes,
    replace_reviews,
)
from catalog.storage.store import Store, _alembic_config, _make_engine, upgrade_schema


def test_decisions_of_an_older_schema_can_be_undone(settings: Settings) -> None:
    """The upgrade logs the stored decisions in order of time; back, they are as they were."""
    engine = _make_engine(settings.database)
    config = _alembic_config()

    def migrate(step: Callable[[Config, str], None], revision: str) -> None:
        with engine.execution_options(scout_write=True).begin() as connection:
            config.attributes["connection"] = connection
            step(config, revision)

    migrate(command.upgrade, "0010")
    with engine.execution_options(scout_write=True).begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO shop (id, name, url, allow_private, max_pages, delay, javascript, sitemaps,"
            " created_at) VALUES (1, 'a', 'https://a.example/', 0, 9, 0, 0, '[]', '2026-01-01')"
        )
        connection.exec_driver_sql(
            "INSERT INTO persons_word (shop_id, url, word, note, at)"
            " VALUES (1, 'https://a.example/2', 'ignore', NULL, '2026-01-02 00:00:00.000000'),"
            " (1, 'https://a.example/1', 'accept', 'new', '2026-01-01 00:00:00.000000')"
        )
    upgrade_schema(settings)
    store = Store.open(settings)
    with store.write() as session:
        steps = count_steps(session, 1, None)
        assert [(step.action, offers, undone) for step, offers, undone in steps] == [
            ("ignore", 1, 0),
            ("accept", 1, 0),
        ]
        step = read_last_step(session, 1)
        assert step is not None
        (change,) = read_open_changes(session, step)
        assert (change.before, change.undone_at) == (None, None)
        after = ReviewEntry.from_json(change.url, change.after or {})
        assert replace_reviews(session, 1, {change.url: None}) == {change.url: after}
        mark_undone(session, [change], "Ann", step.made_at)
    with store.read() as session:
        (review,) = session.exec(select(Review))
        assert (review.url, review.note, review.reviewer) == ("https://a.example/1", "new", None)
        undone = session.exec(select(ReviewChange.undone_by).order_by(ReviewChange.id)).all()
        assert list(undone) == [None, "Ann"]
    store.engine.dispose()
    migrate(command.downgrade, "0010")
    with engine.connect() as connection:
        words = connection.exec_driver_sql("SELECT word FROM persons_word").scalars().all()
    assert words == ["accept"]
    engine.dispose()
