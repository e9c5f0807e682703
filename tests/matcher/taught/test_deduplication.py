"""A taught decision: from labels, from a stored model, and from the agreement of columns alone."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from catalog.errors import UsageError
from catalog.runtime.spark.session import SparkJobs
from matcher.dedupe.deduplication import default_method
from matcher.taught.deduplication import NO_LABELS, Decision, TaughtOptions, decide
from matcher.taught.model.explain import explain_pairs
from matcher.taught.model.model_file import load_model, save_model
from tests.matcher.taught.tables import (
    make_accounts,
    make_adverts,
    make_citations,
    make_concerts,
    make_editions,
    make_flats,
    make_goods,
    make_labels,
    make_patients,
    make_specimens,
    make_visits,
    to_records,
)


def _score(decision: Decision, truth: list[tuple[int, int]]) -> float:
    found = set(zip(decision.result.left.tolist(), decision.result.right.tolist(), strict=True))
    return 2 * len(found & set(truth)) / (len(found) + len(truth))


@cache
def taught_decision() -> Decision:
    """Decide the goods by 40 labels."""
    records, truth = make_goods()
    return decide(records, None, make_labels(truth))


def test_without_labels() -> None:
    """Agreement alone finds the pairs of a small table, and every decision is a probability."""
    records, truth = make_goods()
    decision = decide(records, None)
    assert decision.model.classifier is None
    assert _score(decision, truth) > 0.9
    assert ((decision.result.similarity >= 0) & (decision.result.similarity <= 1)).all()


@cache
def decided_adverts() -> Decision:
    """Decide adverts without labels."""
    return decide(make_adverts()[0], None)


def test_long_texts_that_share_a_part_are_related_only() -> None:
    """Without labels, a shortened copy is a match; another advert of the same company is none."""
    assert _score(decided_adverts(), make_adverts()[1]) > 0.95
    assert decided_adverts().model.agreement.related_prior is not None


def test_long_texts_without_related_ones_have_two_classes() -> None:
    """Copies among texts that have nothing in common need no class of related pairs."""
    records, truth = make_adverts()
    first_of_company = [row for row in range(len(records)) if row % 4 < 2]
    kept = {row: number for number, row in enumerate(first_of_company)}
    decision = decide(records.select(first_of_company), None)
    assert _score(decision, [(kept[left], kept[right]) for left, right in truth]) > 0.95
    assert decision.model.agreement.related_prior is None


@pytest.mark.parametrize("years_are_wrong", [False, True])
def test_years_discriminate_editions_unless_they_are_merely_wrong(years_are_wrong: bool) -> None:
    """Where the ISBN differs with the year, other years are other editions; else they are errors."""
    records, truth = make_editions(years_are_wrong=years_are_wrong)
    decision = decide(records, None)
    assert _score(decision, truth) > 0.97
    assert (decision.model.agreement.related_prior is None) == years_are_wrong


def test_dates_discriminate_concerts_of_one_tour() -> None:
    """Without labels, concerts of one tour in other cities are no duplicates; dates have any form."""
    records, truth = make_concerts()
    decision = decide(records, None)
    assert dict(zip(records.names, decision.comparison.kinds, strict=True))["date"] == "date"
    assert decision.model.agreement.related_prior is not None
    assert _score(decision, truth) > 0.95


def test_dates_discriminate_visits_that_agree_in_all_else() -> None:
    """No other column tells visits of one patient apart, but each date is on two records."""
    records, truth = make_visits()
    decision = decide(records, None)
    assert dict(zip(records.names, decision.comparison.kinds, strict=True))["visit"] == "date"
    assert _score(decision, truth) > 0.97


@pytest.mark.parametrize("areas_are_wrong", [False, True])
def test_amounts_discriminate_flats_of_one_house(areas_are_wrong: bool) -> None:
    """Where the rent differs with the area, these are other flats; else the area is an error."""
    records, truth = make_flats(areas_are_wrong=areas_are_wrong)
    decision = decide(records, None)
    assert _score(decision, truth) > 0.95
    assert (decision.model.agreement.related_prior is None) == areas_are_wrong


@pytest.mark.parametrize(("families", "members"), [(200, 1), (70, 3)])
def test_ways_of_writing_do_not_discriminate(families: int, members: int) -> None:
    """Copies are found though each source writes names and numbers in its own way.

    Members of a family agree in more than copies do, which other banks write; the birthday does not.
    """
    records, truth = make_accounts(families, members)
    decision = decide(records, None)
    assert (decision.model.agreement.related_prior is None) == (members == 1)
    assert _score(decision, truth) > 0.95


def test_numbers_discriminate_however_they_are_written() -> None:
    """Plants found together agree in all but the number and the species."""
    records, truth = make_specimens()
    assert _score(decide(records, None), truth) > 0.95


def test_with_labels() -> None:
    """Labels train a classifier; a labelled pair is decided by its label."""
    decision = taught_decision()
    assert decision.model.classifier is not None
    assert decision.model.summary["labels"] == 40
    assert _score(decision, make_goods()[1]) > 0.9
    labelled = decision.odds[decision.label_rows]
    assert ((labelled > 0) == decision.labels.are_duplicates).all()


def test_two_tables_of_one_partner_each() -> None:
    """Between two tables, a record with one partner is paired with its best one only."""
    left = to_records([("Lumo lamp A12 red", "Lumo", "9"), ("Tarn mug M5", "Tarn", "4")])
    right = to_records(
        [
            ("lamp a12 red lumo", "Lumo", "9"),
            ("lamp a12 lumo", "Lumo", "9"),
            ("mug m5", "Tarn", "4"),
        ]
    )
    decision = decide(left, right)
    assert [pair[0] for pair in sorted(decision.groups)] == [0, 1]
    assert all(len(group) == 2 for group in decision.groups)


@pytest.mark.parametrize("make_decision", [taught_decision, decided_adverts])
def test_a_stored_model_decides_the_same(
    tmp_path: Path, make_decision: Callable[[], Decision]
) -> None:
    """A model that was stored and read again gives the same probabilities."""
    decision = make_decision()
    path = tmp_path / "model.json"
    save_model(decision.model, path)
    restored = load_model(path)
    expected = decision.model.log_odds(decision.scored)
    assert restored.log_odds(decision.scored) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "no json", "is no model"),
        (lambda text: text.replace('"version": 4', '"version": 7'), "version 7"),
        (lambda text: json.dumps(json.loads(text) | {"features": []}), "is no model"),
        (lambda text: text.replace('"levels"', '"stages"'), "is no model"),
    ],
)
def test_damaged_models_are_refused(
    tmp_path: Path, damage: Callable[[str], str], message: str
) -> None:
    """A file that is no model, or one of another version, is one clear error."""
    path = tmp_path / "model.json"
    save_model(taught_decision().model, path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(UsageError, match=message):
        load_model(path)


@cache
def decided_accounts() -> Decision:
    """Decide accounts without labels."""
    return decide(make_accounts(30)[0], None)


@cache
def decided_patients() -> Decision:
    """Decide patients without labels."""
    return decide(make_patients()[0], None)


def test_most_patients_are_entered_once() -> None:
    """The nearest record of a patient who is entered once is no duplicate, though it leads."""
    assert _score(decided_patients(), make_patients()[1]) > 0.9


def test_most_candidates_are_duplicates() -> None:
    """All neighbours of a citation are citations of the same work; random pairs show what others are."""
    records, truth = make_citations()
    assert _score(decide(records, None), truth) > 0.95


def test_two_tables_of_which_few_records_have_a_partner() -> None:
    """A record of another table is no duplicate because it is the nearest."""
    records, truth = make_patients()
    # The second entries and the namesakes that were entered after them, against all first entries.
    copies = [copy for _, copy in truth]
    right = [*copies, *(row for row in range(600, len(records)) if row not in copies)]
    left = [row for row in range(600) if row not in copies]
    decision = decide(records.select(left), records.select(right))
    places = {row: place for place, row in enumerate(left)}
    among = {row: place for place, row in enumerate(right)}
    expected = [(places[first], among[second]) for first, second in truth if first in places]
    assert len(expected) < 0.1 * len(right)
    assert _score(decision, expected) > 0.9


@pytest.mark.parametrize(
    ("version", "make_decision", "is_read"),
    [
        (1, taught_decision, True),
        (1, decided_adverts, False),
        (2, taught_decision, True),
        (2, decided_accounts, False),
        (3, decided_accounts, True),
        (3, decided_patients, False),
    ],
)
def test_models_of_earlier_versions(
    version: int, make_decision: Callable[[], Decision], is_read: bool, tmp_path: Path
) -> None:
    """They are read, but for those with columns that are compared otherwise since."""
    path = tmp_path / "model.json"
    decision = make_decision()
    save_model(decision.model, path)
    path.write_text(path.read_text().replace('"version": 4', f'"version": {version}'))
    if is_read:
        assert load_model(path).kinds == decision.model.kinds
        return
    with pytest.raises(UsageError, match="train it again"):
        load_model(path)


def test_a_model_needs_its_columns() -> None:
    """A model is not applied to a table with other columns, or with columns of other kinds."""
    model = taught_decision().model
    with pytest.raises(UsageError, match="title, maker, price"):
        decide(to_records([("a", "b", "c")], ("x", "y", "z")), None, model=model)
    records, _ = make_goods()
    with pytest.raises(UsageError, match="other kinds"):
        decide(records, None, model=model, options=TaughtOptions(kinds={"price": "text"}))


@pytest.mark.parametrize(
    "make_decision", [taught_decision, decided_adverts, lambda: decide(make_goods()[0], None)]
)
def test_a_waterfall_adds_up(make_decision: Callable[[], Decision]) -> None:
    """The base and the weights of all columns sum to the log-odds of a pair."""
    decision = make_decision()
    rows = [0, 5, len(decision.odds) - 1]
    waterfall = explain_pairs(decision.model, decision.comparison, decision.scored, rows)
    expected = decision.model.log_odds(decision.scored)[rows]
    assert waterfall.total() == pytest.approx(expected, abs=0.05)


def test_the_same_input_gives_the_same_decision() -> None:
    """Two runs on the same records and labels give the same log-odds."""
    records, truth = make_goods()
    again = decide(records, None, make_labels(truth))
    assert np.array_equal(again.odds, taught_decision().odds)


@pytest.mark.parametrize(
    "rows",
    [
        [("red mug", "1")],
        [("red mug", "1"), ("", "")],
        [("!!!", "?"), ("???", "!")],
        [("バス停の掃除", "1"), ("ハス停の掃除", "1")],
        [("x" * 5000, "9" * 400), ("2020-13-41", "inf")],
    ],
)
def test_odd_tables(rows: list[tuple[str, ...]]) -> None:
    """A table of one record, empty values, symbols, other letters or huge values has no pair."""
    assert decide(to_records(rows, ("a", "b")), None).groups == []


def test_the_decision_on_spark_is_that_of_memory(spark_jobs: SparkJobs) -> None:
    """Candidates, features and groups are equal, in one table and between two."""
    records, truth = make_goods()
    options = TaughtOptions(methods=[default_method("minhash", 0.4)])
    tables = [(records, None), (records.select(range(50)), records.select(range(30, 90)))]
    for left, right in tables:
        labels = make_labels(truth) if right is None else NO_LABELS
        local = decide(left, right, labels, options=options)
        distributed = decide(left, right, labels, options=options, jobs=spark_jobs)
        assert distributed.groups == local.groups
        assert np.array_equal(distributed.scored.pairs, local.scored.pairs)
        assert np.array_equal(distributed.scored.table, local.scored.table, equal_nan=True)
        assert np.array_equal(distributed.odds, local.odds)
