"""The log of review decisions: decisions of earlier versions get a step each."""

from datetime import timedelta

import pytest
from sqlmodel import select

from catalog.models import Review, ReviewChange
from catalog.runtime.settings import Settings
from catalog.storage.decisions.reviews import (
    ReviewEntry,
    count_steps,
    mark_undone,
    read_last_step,
    read_open_changes,
    replace_reviews,
)
from catalog.storage.store import Store, upgrade_schema
from tests.catalog.storage.older_schemas import SHOP, TIME, older_database

DAY = timedelta(days=1)


def undo_last_decision(settings: Settings) -> None:
    """Check the steps made of two decisions, and undo the last one."""
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


@pytest.mark.both_databases
def test_decisions_of_an_older_schema_can_be_undone(settings: Settings) -> None:
    """The upgrade logs the stored decisions in order of time; back, they are as they were."""
    decision = {"shop_id": 1, "note": None}
    with older_database(settings, "0010") as older:
        older.add("shop", SHOP)
        older.add(
            "persons_word",
            decision | {"url": "https://a.example/2", "word": "ignore", "at": TIME + DAY},
            decision | {"url": "https://a.example/1", "word": "accept", "note": "new", "at": TIME},
        )
        upgrade_schema(settings)
        undo_last_decision(settings)
        older.downgrade("0010")
        assert older.column("persons_word", "word") == ["accept"]
