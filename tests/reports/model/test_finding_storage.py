"""Stored findings: history over runs, review decisions, repeated and missing storage, filters and order."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import select

from catalog.errors import UsageError
from catalog.models import ReviewDecision, RunCounts, RunState, Shop, StoredFinding, Verdict
from catalog.storage.findings import (
    SORT_NAMES,
    Change,
    FindingFilter,
    count_matching,
    read_counts,
    replace_findings,
)
from catalog.storage.store import Store
from reports.model.finding_storage import backfill_findings, store_run_findings, update_findings
from reports.model.findings import iterate_findings, list_findings

ALL = FindingFilter(includes_ignored=True)
MISSING = frozenset({Verdict.MISSING})


def paths(
    store: Store, shop: Shop, run: int, where: FindingFilter, sort: str = "value"
) -> list[str]:
    """Return the last steps of the URLs of a run's findings, in their order."""
    findings = iterate_findings(store, shop, run, where, sort)
    return [finding.url.rsplit("/", 1)[-1] for finding in findings]


def counts_of(store: Store, run: int) -> RunCounts:
    """Return the stored counts of a run."""
    with store.read() as session:
        counts = read_counts(session, run)
    assert counts is not None
    return counts


@pytest.fixture
def two_currencies(fill: Any) -> int:
    """Fill a run with offers in two currencies, one of them ignored and one without a price."""
    run: int = fill.run()
    fill.listed(run, "l1", price=500, category="Garden > Hoses", brand="Ada")
    fill.finding(run, "m1", price=20, category="Garden > Hoses", brand="ADA")
    fill.finding(run, "m2", price=90, category="Garden", brand="Bea")
    fill.finding(run, "m3", price=12939, currency="USD", category="Gardening", brand="Bea")
    fill.finding(run, "m4", price=None, category="Home > 100% wool_", brand="Cy")
    fill.finding(run, "m5", price=40, category="home > lamps")
    fill.finding(run, "u1", "unsure", price=30)
    fill.decide("m5", ReviewDecision.IGNORE, "seasonal")
    fill.save()
    return run


FILTERS: list[tuple[str, FindingFilter, list[str]]] = [
    ("missing", FindingFilter(verdicts=MISSING), ["m2", "m3", "m1", "m4"]),
    ("all, the ignored one among them", ALL, ["m2", "m3", "m1", "m4", "u1", "l1", "m5"]),
    ("all but the ignored one", FindingFilter(), ["m2", "m3", "m1", "m4", "u1", "l1"]),
    ("ignored only", FindingFilter(only_ignored=True), ["m5"]),
    ("a category and those below it", FindingFilter(category="Garden"), ["m2", "m1", "l1"]),
    ("a whole path", FindingFilter(category="garden>Hoses"), ["m1", "l1"]),
    ("signs of LIKE are plain text", FindingFilter(category="Home > 100% wool_"), ["m4"]),
    ("no sign stands for others", FindingFilter(category="Home > %"), []),
    ("a brand in any case", FindingFilter(brand="ada"), ["m1", "l1"]),
    ("a price range with its ends", FindingFilter(price_from=Decimal(20), price_to=Decimal(30)), ["m1", "u1"]),
    ("dear ones", FindingFilter(price_from=Decimal(400)), ["m3", "l1"]),
    ("two verdicts", FindingFilter(verdicts=frozenset({Verdict.LISTED, Verdict.UNSURE})), ["u1", "l1"]),
    ("part of a cause", FindingFilter(cause="AMBIG"), ["u1"]),
]  # fmt: skip


@pytest.mark.both_databases
@pytest.mark.parametrize(("name", "where", "expected"), FILTERS, ids=[row[0] for row in FILTERS])
def test_filters(
    store: Store,
    shop: Shop,
    two_currencies: int,
    name: str,
    where: FindingFilter,
    expected: list[str],
) -> None:
    """A filter keeps the findings for which all its conditions hold, the most valuable first."""
    assert paths(store, shop, two_currencies, where) == expected
    with store.read() as session:
        assert count_matching(session, two_currencies, where) == len(expected)


@pytest.mark.both_databases
def test_sorting_and_pages(store: Store, shop: Shop, two_currencies: int) -> None:
    """Every column sorts in both directions, values first that are there, and pages never overlap."""
    run = two_currencies
    assert paths(store, shop, run, ALL, "price")[-1] == "m4"
    assert paths(store, shop, run, ALL, "-price")[:2] == ["m3", "l1"]
    assert paths(store, shop, run, ALL, "-price")[-1] == "m4"
    assert paths(store, shop, run, ALL, "-value") == paths(store, shop, run, ALL)[::-1]
    for sort in (*SORT_NAMES, *(f"-{name}" for name in SORT_NAMES)):
        whole = paths(store, shop, run, ALL, sort)
        pages: list[str] = []
        for offset in range(0, 8, 2):
            page = list_findings(store, shop, run, where=ALL, sort=sort, limit=2, offset=offset)
            pages += [finding.url.rsplit("/", 1)[-1] for finding in page]
        assert pages == whole, sort
        assert len(whole) == 7
    with pytest.raises(UsageError, match="cannot sort by 'size': choose from value, price"):
        list_findings(store, shop, run, where=ALL, sort="size")


@pytest.mark.both_databases
def test_counts(store: Store, shop: Shop, two_currencies: int) -> None:
    """Counts have each currency by itself; an ignored offer is counted as ignored and nowhere else."""
    store_run_findings(store, shop, two_currencies, {})
    counts = counts_of(store, two_currencies)
    assert (counts.seen, counts.listed, counts.missing, counts.unsure, counts.ignored) == (
        6,
        1,
        4,
        1,
        1,
    )
    assert counts.values == {"EUR": "110", "USD": "12939"}
    assert (counts.unpriced, counts.currency, counts.known_offers) == (1, "EUR", 1)
    assert counts.decisions == {"ignore": 1}
    assert sum(cause["missing"] for cause in counts.causes) == 4
    assert counts.ranking == (
        "EUR and USD are ranked separately, the highest value of each first; nothing is converted."
    )


def test_rates_rank_currencies_together(store: Store, shop: Shop, two_currencies: int) -> None:
    """With rates of the settings, all currencies have one ranking, and the sentence says so."""
    rates = {"EUR": Decimal(1), "USD": Decimal("0.001")}
    store_run_findings(store, shop, two_currencies, rates)
    assert paths(store, shop, two_currencies, FindingFilter(verdicts=MISSING)) == [
        "m2",
        "m1",
        "m3",
        "m4",
    ]
    assert counts_of(store, two_currencies).ranking == (
        "Ranked by value at the rates of the settings (EUR 1, USD 0.001)."
    )


@pytest.mark.both_databases
def test_storing_again_changes_nothing(store: Store, shop: Shop, two_currencies: int) -> None:
    """A run that is stored twice has each finding once."""
    dumps = []
    for _ in range(2):
        store_run_findings(store, shop, two_currencies, {})
        with store.read() as session:
            rows = session.exec(select(StoredFinding).order_by(StoredFinding.rank)).all()
        names = StoredFinding.model_fields.keys() - {"id"}
        dumps.append([{name: getattr(row, name) for name in names} for row in rows])
    assert dumps[0] == dumps[1]
    assert [row["rank"] for row in dumps[0]] == list(range(1, 8))


@pytest.mark.both_databases
def test_history_of_an_offer(fill: Any, store: Store, shop: Shop) -> None:
    """New, still missing, resolved, reappeared and gone offers have the times of their sightings."""
    runs = [fill.run() for _ in range(3)]
    for path in ("stays", "resolved", "comes-back", "gone"):
        fill.finding(runs[0], path)
    fill.finding(runs[1], "stays")
    fill.listed(runs[1], "resolved")
    fill.finding(runs[1], "gone")
    fill.finding(runs[2], "moved", urls=[fill.url("moved"), fill.url("stays")])
    fill.finding(runs[2], "comes-back")
    fill.finding(runs[2], "new")
    fill.save()
    backfill_findings(store, shop)

    def changed(run: int) -> dict[str, str]:
        found = {}
        for change in Change:
            for path in paths(store, shop, run, FindingFilter(change=change)):
                found[path] = change.value
        return found

    assert changed(runs[0]) == {}
    assert changed(runs[1]) == {
        "stays": "still",
        "resolved": "resolved",
        "gone": "still",
        "comes-back": "gone",
    }
    assert changed(runs[2]) == {
        "moved": "still",
        "comes-back": "reappeared",
        "new": "new",
        "gone": "gone",
    }
    counts = counts_of(store, runs[2])
    assert counts.changes == {"still": 1, "reappeared": 1, "new": 1}
    assert (counts.no_longer_seen, counts.previous_run_id) == (1, runs[1])
    rows = {finding.url: finding for finding in list_findings(store, shop, runs[2])}
    moved, back = rows[fill.url("moved")], rows[fill.url("comes-back")]
    assert (moved.first_seen_run_id, moved.since_run_id) == (runs[0], runs[0])
    assert (back.first_seen_run_id, back.since_run_id) == (runs[0], runs[2])
    assert moved.first_seen_at is not None
    assert moved.last_seen_at is not None
    assert moved.first_seen_at < moved.last_seen_at
    since_last = FindingFilter(verdicts=MISSING, since_run_id=runs[1])
    assert sorted(paths(store, shop, runs[2], since_last)) == ["comes-back", "new"]
    since_then = FindingFilter(verdicts=MISSING, since_at=back.since_at)
    assert sorted(paths(store, shop, runs[2], since_then)) == ["comes-back", "new"]
    # The previous run, stored again, still knows which of its offers were not seen any more.
    store_run_findings(store, shop, runs[1], {})
    assert paths(store, shop, runs[2], FindingFilter(change=Change.GONE)) == ["gone"]


DECISIONS = [
    (ReviewDecision.REJECT, "missing", "listed", False),
    (ReviewDecision.IGNORE, "missing", "missing", True),
    (ReviewDecision.ACCEPT, "missing", "missing", False),
    (ReviewDecision.ACCEPT, "unsure", "missing", False),
    (ReviewDecision.IGNORE, "listed", "listed", True),
]


@pytest.mark.both_databases
@pytest.mark.parametrize(("decision", "before", "after", "is_ignored"), DECISIONS)
def test_a_decision_counts_at_once(
    fill: Any,
    store: Store,
    shop: Shop,
    decision: ReviewDecision,
    before: str,
    after: str,
    is_ignored: bool,
) -> None:
    """A review decision moves the stored finding and the counts, to the same as a new report would."""
    run = fill.run()
    fill.finding(run, "a", before, price=5)
    fill.finding(run, "b", price=7)
    fill.save()
    url = fill.url("a")
    list_findings(store, shop, run)
    fill.decide("a", decision, "looked at")
    fill.save()
    with store.write() as session:
        update_findings(session, shop, run, [url])
    updated, counts = list_findings(store, shop, run), counts_of(store, run)
    (finding,) = [finding for finding in updated if finding.url == url]
    assert (finding.verdict, finding.is_ignored, finding.note) == (after, is_ignored, "looked at")
    assert finding.reviewed_at is not None
    store_run_findings(store, shop, run, {})
    again = counts_of(store, run)
    for name in ("listed", "missing", "unsure", "ignored", "values", "decisions"):
        assert getattr(counts, name) == getattr(again, name), name


@pytest.mark.both_databases
def test_a_confirmed_offer_that_has_reappeared(fill: Any, store: Store, shop: Shop) -> None:
    """Stays one that was missing in an earlier run, before the next report too."""
    runs = [fill.run() for _ in range(3)]
    fill.finding(runs[0], "a")
    fill.finding(runs[1], "b")
    fill.finding(runs[2], "a")
    fill.save()
    backfill_findings(store, shop)
    fill.decide("a", ReviewDecision.ACCEPT)
    fill.save()
    with store.write() as session:
        update_findings(session, shop, runs[2], [fill.url("a")])
    changes = counts_of(store, runs[2]).changes
    store_run_findings(store, shop, runs[2], {})
    assert changes == counts_of(store, runs[2]).changes == {"reappeared": 1}


@pytest.mark.both_databases
def test_decisions_while_findings_are_read(
    fill: Any, store: Store, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Move no finding out of the pages that are left: an export lacks none."""
    monkeypatch.setattr("reports.model.findings._PAGE_SIZE", 2)
    run = fill.run()
    for number in range(6):
        fill.finding(run, f"p{number}", price=9 - number)
    fill.save()
    findings = iterate_findings(store, shop, run, FindingFilter(verdicts=MISSING))
    read = [next(findings).url for _ in range(2)]
    for path in ("p0", "p1"):
        fill.decide(path, ReviewDecision.REJECT)
    fill.save()
    with store.write() as session:
        update_findings(session, shop, run, read)
    assert [finding.url for finding in findings] == [fill.url(f"p{n}") for n in range(2, 6)]


@pytest.mark.both_databases
def test_matches_written_later_are_stored_when_shown(fill: Any, store: Store, shop: Shop) -> None:
    """A finished run whose findings were not stored, or were matched anew since, is stored when it is listed."""
    run = fill.run()
    fill.finding(run, "a")
    fill.save()
    assert paths(store, shop, run, ALL) == ["a"]
    fill.finding(run, "b")
    fill.save()
    assert sorted(paths(store, shop, run, ALL)) == ["a", "b"]


def test_unfinished_runs_are_no_history(fill: Any, store: Store, shop: Shop) -> None:
    """An offer seen by a failed run only is new."""
    failed = fill.run(RunState.FAILED)
    fill.finding(failed, "a")
    first, last = fill.run(), fill.run()
    fill.finding(first, "b")
    fill.finding(last, "a")
    fill.save()
    list_findings(store, shop, failed)
    (finding,) = list_findings(store, shop, last)
    assert (finding.since, finding.first_seen_run_id) == (Change.NEW, last)


@pytest.mark.both_databases
def test_a_writer_that_ends_halfway_changes_nothing(
    store: Store, shop: Shop, two_currencies: int
) -> None:
    """Findings are replaced as a whole: a writer that is killed leaves the former ones."""
    before = paths(store, shop, two_currencies, ALL)

    def rows() -> Iterator[dict[str, Any]]:
        yield {"run_id": two_currencies, "url": "half"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), store.write() as session:
        replace_findings(session, two_currencies, rows())
    assert paths(store, shop, two_currencies, ALL) == before


def test_long_addresses_that_begin_alike(fill: Any, store: Store, shop: Shop) -> None:
    """Two offers whose URLs are the same when shortened are both stored."""
    run = fill.run()
    for end in "ab":
        fill.finding(run, "p/" + "x" * 3000 + end)
    fill.save()
    assert len(list_findings(store, shop, run)) == 2
