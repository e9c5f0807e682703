"""Contents of a store that have to be the same after any faults: without times and row ids.

Per shop: pages, offers, matches and findings of the last finished run, its counts, and the rules.
"""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from sqlmodel import Session, SQLModel, col, func, select

from catalog.models import (
    KnownOffer,
    Match,
    Page,
    PageKind,
    PageState,
    Run,
    RunCounts,
    RunState,
    Shop,
    ShopOffer,
    StoredFinding,
    StoredRules,
)
from catalog.storage.bodies import BodyStore
from catalog.storage.store import Store

OMITTED = frozenset(
    "id shop_id page_id run_id known_id match_id lost_run_id previous_run_id newest_match_id "
    "first_seen_run_id since_run_id first_seen_at last_seen_at since_at fetched_at reviewed_at "
    "stored_at imported_at created_at change changes".split()
)
"""Columns with ids or times; `change` compares with an earlier run, which a fault may cause."""

PAGE_COLUMNS = (
    "url state reason status content_type size body canonical language alternates kind read_reason"
).split()
"""Columns of a page that do not depend on the order in which pages were fetched."""

TRAP = "trap: endless "
"""Beginning of the reason of a page in an endless family, which it names."""

MAX_SHOWN = 200
"""Characters of a value that are shown."""

EXAMPLES = 8
"""Differences that are shown of a table."""

NEVER_EQUAL = {"learnt_at": None, "version": None}
"""Values in place of those parts of a rule set that differ between two runs."""

Contents = dict[str, dict[str, list[str]]]
"""Rows as JSON, by shop and table."""


def read_contents(store: Store) -> Contents:
    """Read the contents of all shops."""
    with store.read_snapshot() as session:
        shops = session.exec(select(Shop).order_by(Shop.name)).all()
        return {shop.name: _read_shop(session, shop.id or 0) for shop in shops}


def count_rows(contents: Contents) -> dict[str, int]:
    """Count the rows of all shops by table."""
    counts: dict[str, int] = {}
    for tables in contents.values():
        for table, rows in tables.items():
            counts[table] = counts.get(table, 0) + len(rows)
    return counts


def compare(expected: Contents, actual: Contents) -> Iterator[str]:
    """Describe each table of a shop that differs.

    A crawl counts anew after an interruption how many pages of an endless family brought nothing,
    and may then fetch some more of them, or fewer. These pages may differ if they show no offer,
    and with them the counts of pages and the other pages that the rules were learnt from.
    """
    for shop, tables in expected.items():
        stored = actual.get(shop, {})
        families = _endless_families(tables["pages"])
        families |= _endless_families(stored.get("pages", []))
        pages = [_without(rows, families) for rows in (tables["pages"], stored.get("pages", []))]
        is_same = tables["pages"] == stored.get("pages")
        yield from _compare_table(f"{shop}: pages", *pages)
        for table in ("offers", "matches", "findings", *(("counts", "rules") if is_same else ())):
            yield from _compare_table(f"{shop}: {table}", tables[table], stored.get(table, []))


def _endless_families(rows: list[str]) -> set[str]:
    """Return the beginnings of the paths of families that a page was refused for."""
    reasons = [json.loads(row)["reason"] or "" for row in rows]
    return {reason.removeprefix(TRAP) for reason in reasons if reason.startswith(TRAP)}


def _without(rows: list[str], families: set[str]) -> list[str]:
    """Leave out pages of the families that show no offer."""
    kept = []
    for row in rows:
        page = json.loads(row)
        is_endless = urlsplit(page["url"]).path.startswith(tuple(families))
        if page["kind"] == PageKind.OFFER or not is_endless:
            kept.append(row)
    return kept


def _compare_table(name: str, expected: list[str], actual: list[str]) -> Iterator[str]:
    if expected == actual:
        return
    missing, extra = set(expected) - set(actual), set(actual) - set(expected)
    yield (
        f"{name}: {len(missing)} of {len(expected)} lost, "
        f"{len(extra)} of {len(actual)} not expected"
        + "".join(f"\n    {line}" for line in _differences(missing, extra))
    )


def _differences(missing: set[str], extra: set[str]) -> list[str]:
    """Describe some of the rows that differ, by their URL and the values that differ."""
    before, after = _by_url(missing), _by_url(extra)
    lines = []
    for url in sorted(before.keys() | after.keys()):
        if url not in before or url not in after:
            lines.append(f"{url}: {'not expected' if url in after else 'lost'}")
            continue
        for key in before[url]:
            former, latter = before[url][key], after[url].get(key)
            if former != latter:
                lines.append(
                    f"{url}: {key}: {former!r:.{MAX_SHOWN}} became {latter!r:.{MAX_SHOWN}}"
                )
    return lines[:EXAMPLES] + [f"and {len(lines) - EXAMPLES} more"] * (len(lines) > EXAMPLES)


def _by_url(rows: set[str]) -> dict[str, dict[str, Any]]:
    parsed = map(json.loads, rows)
    return {f"{row.get('url')} {row.get('page', '')}".strip(): row for row in parsed}


def find_damaged_bodies(store: Store, url: str) -> Iterator[str]:
    """Name the fetched pages whose body is lost or damaged."""
    bodies = BodyStore(url)
    with store.read() as session:
        pages = session.exec(select(Page.url, Page.body).where(Page.state == PageState.FETCHED))
        for page, body in pages.all():
            if body is None or not bodies.holds(body):
                yield f"the body of {page} is lost"


def _read_shop(session: Session, shop_id: int) -> dict[str, list[str]]:
    pages = {page.id: page for page in session.exec(select(Page).where(Page.shop_id == shop_id))}
    known = select(KnownOffer.id, KnownOffer.ref).where(KnownOffer.shop_id == shop_id)
    refs = dict(session.exec(known).all())
    run_id = session.exec(
        select(Run.id)
        .where(Run.shop_id == shop_id, Run.state == RunState.DONE)
        .order_by(col(Run.id).desc())
    ).first()
    rules = select(StoredRules).where(StoredRules.shop_id == shop_id)
    offers = session.exec(select(ShopOffer).where(ShopOffer.shop_id == shop_id)).all()
    matches = session.exec(select(Match).where(Match.run_id == run_id)).all()
    findings = session.exec(select(StoredFinding).where(StoredFinding.run_id == run_id)).all()
    counts = session.exec(select(RunCounts).where(RunCounts.run_id == run_id)).all()
    newest_rules = session.exec(rules.order_by(col(StoredRules.version).desc())).first()
    return {
        "pages": _lines(map(_page, pages.values())),
        "offers": _lines({"page": pages[offer.page_id].url, **_row(offer)} for offer in offers),
        "matches": _lines({"known": refs.get(match.known_id), **_row(match)} for match in matches),
        "findings": _lines(map(_row, findings)),
        "counts": _lines(map(_row, counts)),
        "rules": _lines([] if newest_rules is None else [{**newest_rules.rules, **NEVER_EQUAL}]),
    }


def _page(page: Page) -> dict[str, Any]:
    row = {name: getattr(page, name) for name in PAGE_COLUMNS}
    # A shop may have been run twice: its job did not learn of the end of the first run.
    return {
        **row,
        "status": HTTPStatus.OK if page.status == HTTPStatus.NOT_MODIFIED else page.status,
    }


def count_runs(store: Store) -> int:
    """Count the finished runs of all shops."""
    with store.read() as session:
        return session.exec(select(func.count()).where(Run.state == RunState.DONE)).one()


def _row(row: SQLModel) -> dict[str, Any]:
    # `model_dump` would warn of enums that the database has as text.
    return {name: getattr(row, name) for name in type(row).model_fields if name not in OMITTED}


def _lines(rows: Iterator[Mapping[str, Any]] | list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True, default=str, ensure_ascii=False) for row in rows)
