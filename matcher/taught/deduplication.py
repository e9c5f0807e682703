"""Decide the candidate pairs of any table by a taught model, and group the records.

The steps: kinds of columns, candidates, comparison features, agreement without labels, classifier
(from labels, or from a stored model), variants, groups. Each stands in a module of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from catalog.errors import UsageError
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.spark.session import SparkJobs
from matcher.array_types import Bools, Doubles, Floats, Ints, Pairs
from matcher.dedupe.base.join import JoinMethod, JoinResult, PairBatch, build_result
from matcher.dedupe.base.letter_pairs import drop_letter_pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.spark.methods import distribute
from matcher.model.calibration import log_odds
from matcher.scoring.assignment import assign_one_to_one
from matcher.taught.candidates import (
    DEFAULT_NEIGHBOURS,
    draw_random_pairs,
    find_nearest_pairs,
    find_neighbours,
    find_rows,
    joined_pairs,
    unite_pairs,
)
from matcher.taught.columns.kinds import ColumnKind, detect_kinds
from matcher.taught.columns.pages import TextOptions, read_texts
from matcher.taught.columns.scripts import romanise_records
from matcher.taught.columns.unified import unify_values
from matcher.taught.features.comparison import Comparison
from matcher.taught.features.distributed_comparison import compare_distributed
from matcher.taught.features.feature import (
    ALL_COLUMNS,
    NEVER_LOWERS,
    NEVER_RAISES,
    VARIANTS,
    Feature,
)
from matcher.taught.features.shingle_overlap import DEFAULT_SIZE
from matcher.taught.groups import group_records, missing_pairs
from matcher.taught.model.agreement import AgreementModel
from matcher.taught.model.expectation import fit_agreement
from matcher.taught.model.group_roles import find_group_roles
from matcher.taught.model.labelled_rivals import MIN_LABELS, score_with_labelled_rivals
from matcher.taught.model.partners import Partners
from matcher.taught.model.similarities import group_similarities
from matcher.taught.model.taught_model import (
    ScoringTable,
    TaughtModel,
    add_agreement,
    all_features,
)
from matcher.taught.model.training import train
from matcher.taught.variants.markers import RULES
from matcher.taught.variants.rules import (
    ALL_RULES,
    DIFFERENT,
    FIRST_EDITION,
    VOLUME,
    default_rules,
    editions_are_named,
    learn_rules,
)

# Probability of a pair that a label decides, and of one that a label or a variant rule refutes.
LABELLED_ODDS = 9.0
# Feature by which pairs look alike, to learn rules about variants.
LIKENESS = Feature(ALL_COLUMNS, "3-grams", NEVER_LOWERS)
# Features that tell whether editions are named.
EDITION = Feature(VARIANTS, "edition", NEVER_RAISES)
YEAR = Feature(VARIANTS, "year", NEVER_RAISES)
REASONS = ("taught", "labelled", "grouped")


@dataclass(frozen=True)
class Labels:
    """Labelled pairs as (left row, right row), and whether each is a duplicate."""

    pairs: Pairs
    are_duplicates: Bools

    def __len__(self) -> int:
        return len(self.pairs)


NO_LABELS = Labels(np.empty((0, 2), np.int64), np.empty(0, bool))


@dataclass(frozen=True)
class TaughtOptions:
    """How to find and decide pairs; None and empty values are defaults.

    `methods` find candidates besides the nearest neighbours; `neighbours` of 0 leaves these out.
    `known_pairs` are candidates in any case.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    methods: Sequence[JoinMethod] = ()
    neighbours: int = DEFAULT_NEIGHBOURS
    shingle_size: int = DEFAULT_SIZE
    text: TextOptions = field(default_factory=TextOptions)
    variants: Sequence[str] | None = None
    threshold: float | None = None
    known_pairs: Pairs = field(default_factory=lambda: np.empty((0, 2), np.int64))
    uses_labelled_rivals: bool = True
    seed: int = 0


@dataclass(frozen=True)
class Decision:
    """Scored candidates and the decisions on them.

    `odds` are log-odds of the rows of `scored`, of labelled pairs by their label; `scores` are the
    log-odds that the model gives, labelled or not. `variant_of` names the rule that keeps a pair
    apart, "" for none. `held_out` are cross-fitted probabilities of the labels, for figures.
    """

    comparison: Comparison
    scored: ScoringTable
    odds: Doubles
    scores: Doubles
    model: TaughtModel
    labels: Labels
    label_rows: Ints
    held_out: Floats
    variant_of: list[str]
    groups: list[list[int]]
    result: JoinResult


def decide(
    left: Records,
    right: Records | None,
    labels: Labels = NO_LABELS,
    model: TaughtModel | None = None,
    options: TaughtOptions | None = None,
    progress: Progress = no_progress,
    jobs: SparkJobs | None = None,
) -> Decision:
    """Find and decide the duplicates of one table (`right` is None) or between two.

    Labels train a classifier, else that of `model` decides, else agreement alone. With `jobs`,
    candidates are searched for and compared on Spark; the decision is that of one machine. Raises
    UsageError if the columns do not fit the model, or a method does not run on Spark; WorkerError
    if Spark fails.
    """
    options = options or TaughtOptions()
    comparison = _compare_columns(left, right, model, options)
    pairs = _find_candidates(comparison, labels, options, progress, jobs)
    compare = None if jobs is None else partial(compare_distributed, jobs, comparison)
    table = comparison.table(pairs, progress, compare)
    if model is None:
        agreement = _fit_agreement(comparison, pairs, table, options)
    else:
        agreement = model.agreement
    scored = add_agreement(comparison, pairs, table, agreement)
    rows = find_rows(pairs, labels.pairs)
    taught, held_out = _teach(comparison, scored, agreement, labels, rows, model, options)
    threshold_odds = _odds(taught.threshold)
    matched = taught.log_odds(scored) > threshold_odds
    rules = _variant_rules(comparison, scored, matched, labels, rows, model, options)
    taught = replace(taught, summary={**taught.summary, "variants": rules})
    if right is None:
        missing = missing_pairs(pairs, matched)
        if len(missing):
            pairs, table = comparison.extend(pairs, table, missing)
            scored = add_agreement(comparison, pairs, table, agreement)
            rows = find_rows(pairs, labels.pairs)
    odds = taught.log_odds(scored)
    if options.uses_labelled_rivals and right is not None and len(held_out) >= MIN_LABELS:
        odds = score_with_labelled_rivals(
            pairs, odds, rows, labels.are_duplicates, log_odds(held_out), options.seed
        )
    variant_of = _find_variants(comparison, rules, pairs, odds > threshold_odds)
    forbidden = np.array([bool(rule) for rule in variant_of], bool)
    forbidden |= _differ_in_letters(pairs, left, right)
    scores = odds.copy()
    if len(labels):
        forbidden[rows] = ~labels.are_duplicates
        odds[rows] = np.where(labels.are_duplicates, LABELLED_ODDS, -LABELLED_ODDS)
    if right is not None:
        forbidden |= _lose_to_rivals(pairs, odds - threshold_odds, forbidden, scored.partners)
    left_size = None if right is None else len(left)
    groups = group_records(pairs, odds, forbidden, threshold_odds, left_size)
    result = _build_result(pairs, odds, groups, rows, left_size, threshold_odds)
    return Decision(
        comparison, scored, odds, scores, taught, labels, rows, held_out, variant_of, groups, result
    )


def score_with_labels(decision: Decision, labels: Labels) -> Doubles:
    """Return the log-odds of the same candidates after training on other labels.

    The log-odds are those of agreement alone while the labels are of one class.
    """
    scored, features = decision.scored, all_features(decision.comparison)
    rows = find_rows(scored.pairs, labels.pairs)
    trained = train(scored, features, rows, labels.are_duplicates, labels.pairs[:, 0])
    if trained is None:
        return log_odds(scored.shared)
    return trained.classifier.log_odds(scored.table) - _odds(trained.threshold)


def _compare_columns(
    left: Records, right: Records | None, model: TaughtModel | None, options: TaughtOptions
) -> Comparison:
    sides = [left.fields] if right is None else [left.fields, right.fields]
    given: Mapping[str, str] = options.kinds
    if model is not None:
        if model.names != left.names:
            raise UsageError(
                f"the model was taught with the columns {', '.join(model.names)}: name these by --key"
            )
        given = dict(zip(model.names, map(str, model.kinds), strict=True)) | dict(given)
    source = options.text.source_column
    if source and source not in left.names:
        raise UsageError(
            f"--source {source}: no such column is compared; they are {', '.join(left.names)}"
        )
    if source and source not in given:
        # The source of a record says where phrases repeat, not what the record is.
        given = {**given, source: ColumnKind.IGNORED.value}
    kinds = detect_kinds(left.names, sides, given)
    if all(kind is ColumnKind.IGNORED for kind in kinds):
        raise UsageError("all columns are empty or ignored: nothing can be compared")
    tables = [left] if right is None else [left, right]
    read = [romanise_records(read_texts(table, kinds, options.text)) for table in tables]
    read_left, *rest = unify_values(read, kinds)
    read_right = rest[0] if rest else None
    # The search for neighbours needs all records, other methods find pairs of few of them.
    in_parts = not options.neighbours
    comparison = Comparison(read_left, read_right, kinds, options.shingle_size, in_parts)
    if model is not None and model.features != all_features(comparison):
        raise UsageError(
            "the model was taught with other kinds of columns: leave out --kind, or train it again"
        )
    return comparison


def _find_candidates(
    comparison: Comparison,
    labels: Labels,
    options: TaughtOptions,
    progress: Progress,
    jobs: SparkJobs | None,
) -> Pairs:
    parts = [labels.pairs, options.known_pairs]
    is_self_join, count = comparison.is_self_join, options.neighbours
    if count:
        parts.append(find_neighbours(comparison.all_columns, is_self_join, count, jobs))
        for vectors in comparison.long_text_vectors():
            parts.append(find_nearest_pairs(*vectors, is_self_join, count, jobs))
        progress("candidates", sum(map(len, parts)))
    methods = options.methods
    if jobs is not None:
        methods = [distribute(method, jobs) for method in methods]
    for method in methods:
        parts.append(joined_pairs(method(comparison.left, comparison.right, progress)))
    pairs = unite_pairs(parts, is_self_join)
    left = comparison.left
    right = left if comparison.right is None else comparison.right
    random_pairs = draw_random_pairs(len(left), len(right), len(pairs), options.seed)
    return unite_pairs([pairs, random_pairs], is_self_join)


def _fit_agreement(
    comparison: Comparison, pairs: Pairs, table: Floats, options: TaughtOptions
) -> AgreementModel:
    """Fit agreement to the pairs that no rule keeps apart.

    Volumes and editions of one work agree in nearly all columns. As matches or as other pairs, they
    would hide how much these columns say.
    """
    rules = options.variants
    if rules is None:
        rules = default_rules(comparison.names)
    features = comparison.features
    are_apart = np.zeros(len(pairs), bool)
    # The rule about first editions has no feature.
    for rule in RULES.keys() & set(rules):
        marker = Feature(VARIANTS, rule, NEVER_RAISES)
        are_apart |= table[:, features.index(marker)] == DIFFERENT
    return fit_agreement(
        group_similarities(table[~are_apart], features),
        pairs[~are_apart],
        comparison.is_self_join,
        find_group_roles(features, dict(zip(comparison.names, comparison.kinds, strict=True))),
    )


def _teach(
    comparison: Comparison,
    scored: ScoringTable,
    agreement: AgreementModel,
    labels: Labels,
    rows: Ints,
    model: TaughtModel | None,
    options: TaughtOptions,
) -> tuple[TaughtModel, Floats]:
    """Train on labels, if there are any; returns the model and the labels' held-out probabilities."""
    features = all_features(comparison)
    trained = train(scored, features, rows, labels.are_duplicates, labels.pairs[:, 0], options.seed)
    no_scores = np.empty(0, np.float32)
    if trained is None:
        base = model or TaughtModel(
            comparison.names, tuple(comparison.kinds), features, agreement,
            summary={"taught_by": "agreement of columns, without labels"},
        )  # fmt: skip
        return _with_threshold(base, options.threshold), no_scores
    summary: dict[str, Any] = {
        "taught_by": "labels",
        "labels": len(labels),
        "duplicates": int(labels.are_duplicates.sum()),
        "candidates": len(scored.pairs),
    }
    taught = TaughtModel(
        comparison.names, tuple(comparison.kinds), features, agreement,
        trained.classifier, trained.threshold, summary,
    )  # fmt: skip
    return _with_threshold(taught, options.threshold), trained.held_out


def _with_threshold(model: TaughtModel, threshold: float | None) -> TaughtModel:
    if threshold is None:
        return model
    return replace(model, threshold=threshold)


def _variant_rules(
    comparison: Comparison,
    scored: ScoringTable,
    matched: Bools,
    labels: Labels,
    label_rows: Ints,
    model: TaughtModel | None,
    options: TaughtOptions,
) -> list[str]:
    """Return the rules that keep pairs apart: given, stored with the model, or learnt."""
    if options.variants is not None:
        return [*options.variants]
    stored = model.summary.get("variants") if model is not None else None
    if not len(labels) and isinstance(stored, list):
        return [str(rule) for rule in stored]
    rules = [*default_rules(comparison.names)]
    edition, year = (
        scored.table[:, comparison.features.index(marker)] for marker in (EDITION, YEAR)
    )
    if editions_are_named(edition, year, matched):
        rules.append(FIRST_EDITION)
    if not len(labels):
        return rules
    are_variants = comparison.find_variants(ALL_RULES, labels.pairs)
    alike = scored.table[label_rows, comparison.features.index(LIKENESS)]
    return learn_rules(are_variants, labels.are_duplicates, alike, rules)


def _find_variants(
    comparison: Comparison, rules: Sequence[str], pairs: Pairs, matched: Bools
) -> list[str]:
    """Return for each pair the first rule that keeps it apart, "" for none."""
    variant_of = [""] * len(pairs)
    for rule, is_variant in reversed(comparison.find_variants(rules, pairs).items()):
        for place in np.flatnonzero(is_variant).tolist():
            variant_of[place] = rule
    if VOLUME in rules:
        rows = np.flatnonzero(matched)
        for place in rows[comparison.find_unnamed_volumes(pairs[rows])].tolist():
            variant_of[place] = variant_of[place] or VOLUME
    return variant_of


def _differ_in_letters(pairs: Pairs, left: Records, right: Records | None) -> Bools:
    """Return the pairs that differ only in marks that make another letter: never duplicates."""
    nothing = np.zeros(len(pairs))
    batch = PairBatch(pairs[:, 0], pairs[:, 1], nothing, nothing.astype(np.int64))
    remaining = joined_pairs(drop_letter_pairs(build_result([batch], ("",)), left, right))
    if len(remaining) == len(pairs):
        return np.zeros(len(pairs), bool)
    is_dropped: Bools = find_rows(remaining, pairs) < 0
    return is_dropped


def _lose_to_rivals(pairs: Pairs, odds: Doubles, forbidden: Bools, partners: Partners) -> Bools:
    """Return the pairs that lose to a better partner of a record that has one partner only."""
    allowed = np.where(forbidden, -1.0, odds)
    loses = np.zeros(len(pairs), bool)
    if partners.left_has_one and partners.right_has_one:
        loses = allowed > 0
        loses[assign_one_to_one(pairs, allowed)] = False
        return loses
    for side, has_one in enumerate((partners.left_has_one, partners.right_has_one)):
        if has_one:
            best = np.full(int(pairs[:, side].max(initial=-1)) + 1, -np.inf)
            np.maximum.at(best, pairs[:, side], allowed)
            loses |= allowed < best[pairs[:, side]]
    return loses


def _build_result(
    pairs: Pairs,
    odds: Doubles,
    groups: list[list[int]],
    label_rows: Ints,
    left_size: int | None,
    threshold_odds: float,
) -> JoinResult:
    """Return the scored pairs within groups, with their probabilities."""
    offset = left_size or 0
    size = max(int(pairs[:, 0].max(initial=-1)), int(pairs[:, 1].max(initial=-1)) + offset) + 1
    group_of = np.full(size, -1, np.int64)
    for number, members in enumerate(groups):
        group_of[members] = number
    first, second = group_of[pairs[:, 0]], group_of[pairs[:, 1] + offset]
    rows = np.flatnonzero((first >= 0) & (first == second))
    reason = np.where(odds > threshold_odds, REASONS.index("taught"), REASONS.index("grouped"))
    reason[label_rows] = REASONS.index("labelled")
    batch = PairBatch(pairs[rows, 0], pairs[rows, 1], 1 / (1 + np.exp(-odds[rows])), reason[rows])
    return build_result([batch], REASONS, candidates=len(pairs), comparisons=len(pairs))


def _odds(probability: float) -> float:
    clipped = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.log(clipped / (1 - clipped)))
