"""The index of a large catalog: a match by it is that with all offers in memory, whatever happened
to catalog and index before."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlmodel import col, delete, func, select

from catalog.feeds.former_offers import undo_last_import
from catalog.models import KnownIndex, KnownIndexPart, Match, Run
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from matcher.config import DEFAULT_CONFIG
from matcher.known_index import build as build_module
from matcher.known_index.build import build_index
from matcher.known_index.update import update_index
from matcher.match_job import match_shop
from matcher.training import classifier
from tests.matcher.known_index.conftest import (
    CATALOG_SIZE,
    Import,
    make_row,
    make_rows,
    read_index,
)

Matches = list[dict[str, Any]]


def match(
    settings: Settings, store: Store, *, anew: bool = True, keep_cache: bool = False
) -> Matches:
    """Match the shop, and return its matches without the columns that tell runs apart."""
    with store.write() as session:
        run = Run(shop_id=1)
        session.add(run)
    match_shop(settings, store, store.shop("demo"), run.id or 0, anew=anew)
    if not keep_cache:
        (settings.data_dir / "matching" / "1.npz").unlink(missing_ok=True)
    with store.read() as session:
        rows = session.exec(
            select(Match).where(Match.run_id == run.id).order_by(col(Match.url))
        ).all()
        return [row.model_dump(exclude={"id", "run_id"}, warnings=False) for row in rows]


def verdicts(matches: Matches) -> list[tuple[Any, ...]]:
    """What a match comes to: verdict, nearest offer, score and reasons."""
    names = ("url", "verdict", "known_id", "score", "reasons")
    return [tuple(row[name] for name in names) for row in matches]


def answers(matches: Matches) -> list[tuple[Any, ...]]:
    """Verdicts and nearest offers: frequencies change the scores a little until the next build."""
    return [(row["url"], row["verdict"], row["known_id"]) for row in matches]


def with_all_in_memory(
    settings: Settings, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Matches:
    """Match with all known offers in memory."""
    with monkeypatch.context() as patch:
        patch.setattr("matcher.known_side.MIN_KNOWN_PER_OFFER", 10**9)
        return match(settings, store)


def test_matches_are_those_of_the_whole_catalog(
    settings: Settings, catalog: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Candidates and statistics of the index give the matches of all offers in memory."""
    by_index = match(settings, catalog)
    assert read_index(catalog).documents == CATALOG_SIZE
    whole = with_all_in_memory(settings, catalog, monkeypatch)
    assert verdicts(by_index) == verdicts(whole)
    assert {row["verdict"] for row in by_index} >= {"listed", "missing"}


def test_the_classifier_is_that_of_the_whole_catalog(
    settings: Settings, catalog: Store, import_rows: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is trained on the same offers and their rivals; an import does not train it again."""
    if catalog.engine.dialect.name != "sqlite":
        pytest.skip("training takes seconds, and the database has no part in it")
    monkeypatch.setattr("matcher.match_job.DEFAULT_CONFIG", DEFAULT_CONFIG)
    few_trees = dict(classifier.TREE_SETTINGS) | {"max_iter": 20}
    monkeypatch.setattr(classifier, "TREE_SETTINGS", few_trees)
    whole = with_all_in_memory(settings, catalog, monkeypatch)
    by_index = match(settings, catalog, keep_cache=True)
    assert verdicts(by_index) == verdicts(whole)
    monkeypatch.setattr("matcher.scoring.scored_pairs.train_classifier", None)
    rows = make_rows()
    rows[1]["title"] = "Vega lantern 996 black"
    import_rows(rows)
    assert answers(match(settings, catalog)) == answers(by_index)


def test_an_import_is_added_to_the_index(
    settings: Settings,
    indexed: Store,
    import_rows: Import,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Changed, new and lost offers are known to the next match, without a new build."""
    built = read_index(indexed)
    rows = make_rows(range(3, CATALOG_SIZE))
    rows[10]["title"] = "Vega lantern 999 black"
    rows[11]["price"] = "1.00 EUR"
    rows.append(make_row(20) | {"id": "new", "title": "Vega lantern 998 black"})
    import_rows(rows)
    updated_matches = match(settings, indexed)
    updated = read_index(indexed)
    assert (updated.build, updated.updates, updated.documents) == (built.build, 1, CATALOG_SIZE + 2)
    whole = with_all_in_memory(settings, indexed, monkeypatch)
    assert answers(updated_matches) == answers(whole)
    undo_last_import(indexed, indexed.shop("demo"))
    undone = match(settings, indexed)
    assert read_index(indexed).updates == 2
    whole = with_all_in_memory(settings, indexed, monkeypatch)
    assert answers(undone) == answers(whole)


def test_many_changes_make_a_new_index(indexed: Store, import_rows: Import) -> None:
    """The frequencies of an index are those of its build, so that few changes may come after."""
    built = read_index(indexed)
    import_rows([row | {"title": f"{row['title']} II"} for row in make_rows()])
    update_index(indexed, 1)
    rebuilt = read_index(indexed)
    assert rebuilt.build > built.build
    assert (rebuilt.updates, rebuilt.documents) == (0, CATALOG_SIZE)


def test_a_killed_build_leaves_no_index(
    settings: Settings, indexed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a build that was killed are never read; the next build deletes them."""
    expected = match(settings, indexed)
    with indexed.write() as session:
        session.exec(delete(KnownIndex))
    for parts in (0, 4):
        with monkeypatch.context() as patch:
            patch.setattr(build_module, "write_parts", _killed_after(parts))
            with pytest.raises(KeyboardInterrupt):
                update_index(indexed, 1)
        with indexed.read() as session:
            assert session.exec(select(KnownIndex)).first() is None
    assert match(settings, indexed) == expected
    index = read_index(indexed)
    with indexed.read() as session:
        builds = session.exec(select(KnownIndexPart.build).distinct()).all()
    assert builds == [index.build]


def _killed_after(count: int) -> Callable[..., int]:
    """Write so many parts, each in a transaction of its own, and end as a killed process does."""
    write_parts = build_module.write_parts

    def write(store: Store, shop_id: int, build: int, parts: Any) -> int:
        for number, part in enumerate(parts):
            if number == count:
                break
            write_parts(store, shop_id, build, [part])
        raise KeyboardInterrupt

    return write


@pytest.mark.parametrize(
    "damage", ["other layout", "lost posting", "lost update", "documents", "statistics"]
)
def test_an_index_that_cannot_be_used_is_built_again(
    settings: Settings, indexed: Store, import_rows: Import, damage: str
) -> None:
    """Another format, and parts that are missing or damaged, cost a new build only."""
    if indexed.engine.dialect.name != "sqlite":
        pytest.skip("the database has no part in it")
    rows = make_rows()
    rows[0]["title"] = "Vega lantern 997 black"
    import_rows(rows)
    expected = answers(match(settings, indexed))
    built = read_index(indexed)
    with indexed.write() as session:
        index = session.exec(select(KnownIndex)).one()
        if damage == "other layout":
            index.layout = 0
        elif damage in ("documents", "statistics"):
            part = session.exec(select(KnownIndexPart).where(KnownIndexPart.kind == damage)).one()
            part.data = b"damaged"
        else:
            kind = "postings" if damage == "lost posting" else "update"
            session.exec(delete(KnownIndexPart).where(col(KnownIndexPart.kind) == kind))
    if damage == "statistics":
        # They are read when the index is brought up to date.
        rows[1]["title"] = "Vega lantern 998 white"
        import_rows(rows)
        assert len(answers(match(settings, indexed))) == len(expected)
    else:
        assert answers(match(settings, indexed)) == expected
    rebuilt = read_index(indexed)
    assert (rebuilt.build, rebuilt.updates) == (built.build + 1, 0)


def test_of_two_builds_the_later_one_stays(catalog: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that ends after a later one, whose end deleted its parts, changes nothing."""
    finish = build_module.finish_build

    def finish_after_another(session: Any, index: KnownIndex) -> bool:
        monkeypatch.setattr(build_module, "finish_build", finish)
        session.commit()
        assert build_index(catalog, 1) is not None
        return finish(session, index)

    monkeypatch.setattr(build_module, "finish_build", finish_after_another)
    assert build_index(catalog, 1) is None
    index = read_index(catalog)
    with catalog.read() as session:
        parts = select(func.count()).where(
            KnownIndexPart.build == index.build, KnownIndexPart.kind != "start"
        )
        assert session.exec(parts).one() == index.parts


def test_matches_are_taken_over_until_an_import(
    settings: Settings, catalog: Store, import_rows: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an import the matches of the last run are copied; after one they are computed."""
    first = match(settings, catalog, anew=False)
    with monkeypatch.context() as patch:
        patch.setattr("matcher.match_job.retrieve_known_side", None)
        assert match(settings, catalog, anew=False) == first
    rows = make_rows()
    rows[0] = make_row(0) | {"price": "1.00 EUR"}
    import_rows(rows)
    with monkeypatch.context() as patch:
        patch.setattr("matcher.match_job.retrieve_known_side", None)
        with pytest.raises(TypeError):
            match(settings, catalog, anew=False)
