"""From judged pairs to verdicts: one to one, the strongest evidence first, a person's word above all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalog.models import Verdict, Word
from matcher.decision.thresholds import PRECISION, Bounds, bounds
from matcher.scoring.assignment import assign
from matcher.scoring.score_pairs import Comparison
from matcher.training.classifier import FEWEST_OFFERS

EVEN = Bounds(0.5, 0.5)
ALIKE = 60.0
CONTAINED = 95.0
HALF_ALIKE = 40.0
_LEAST = 0.01


@dataclass(frozen=True)
class Decision:
    """The verdict on one offer of the shop; `pair` is the pair it rests on, `winner` the one that took it."""

    verdict: Verdict
    score: float
    pair: int | None
    winner: int | None = None
    word: Word | None = None


def decide(
    seen: Comparison, words: Sequence[Word | None], precision: float = PRECISION
) -> list[Decision]:
    """One decision per offer of the shop. An offer whose catalog offer another one fits better is missing.

    The bounds of the verdicts are chosen from how a first round at even odds comes out; they stay as they are where the
    fixed formula judges, whose probabilities are not calibrated.
    """
    if len(seen.known) < FEWEST_OFFERS:
        return _round(seen, words, Bounds())
    first = _round(seen, words, EVEN)
    unpaired = np.array(
        [one.score for one in first if one.verdict is Verdict.MISSING and not one.word]
    )
    paired = np.array(
        [one.score for one in first if one.verdict is not Verdict.MISSING and not one.word]
    )
    return _round(seen, words, bounds(paired, unpaired, precision))


def _round(seen: Comparison, words: Sequence[Word | None], limits: Bounds) -> list[Decision]:
    """The decisions within these bounds."""
    chosen = assign(seen.pairs, _weights(seen, words, limits))
    by_shop = dict(zip(seen.pairs[chosen, 0].tolist(), chosen.tolist(), strict=True))
    by_known = dict(zip(seen.pairs[chosen, 1].tolist(), chosen.tolist(), strict=True))
    best = _best(seen, limits)
    found = []
    for row, word in enumerate(words):
        pair = by_shop.get(row, best.get(row))
        paired = row in by_shop
        winner = None if pair is None or paired else by_known.get(int(seen.pairs[pair, 1]))
        found.append(_decision(seen, pair if paired else None, pair, winner, word, limits))
    return found


def _decision(
    seen: Comparison,
    own: int | None,
    near: int | None,
    winner: int | None,
    word: Word | None,
    limits: Bounds,
) -> Decision:
    """The verdict on an offer, given the pair it was given, if any, and the nearest one."""
    if word is Word.REJECT:
        return Decision(Verdict.LISTED, 1.0, near, None, word)
    if word is Word.ACCEPT or near is None:
        return Decision(Verdict.MISSING, 0.0, near, winner, word)
    score = float(seen.probability[near])
    if own is None:
        return Decision(
            Verdict.MISSING, min(_after(score, winner, seen), limits.missing), near, winner, word
        )
    return Decision(
        Verdict.LISTED if score >= limits.listed else Verdict.UNSURE, score, near, None, word
    )


def _after(score: float, winner: int | None, seen: Comparison) -> float:
    """The probability left to a pair whose catalog offer was given to a better one."""
    if winner is None:
        return score
    own, other = (p / max(1 - p, 1e-6) for p in (score, float(seen.probability[winner])))
    return own / (1 + own + other)


def _weights(seen: Comparison, words: Sequence[Word | None], limits: Bounds) -> NDArray[np.float64]:
    """Log-odds above the missing bound. A person's `accept` takes nothing, a `reject` what is free."""
    sure = np.clip(seen.probability.astype(np.float64), 1e-6, 1 - 1e-6)
    weight: NDArray[np.float64] = np.log(sure / (1 - sure)) - np.log(
        limits.missing / (1 - limits.missing)
    )
    word = np.array(
        [{Word.ACCEPT: -1, Word.REJECT: 1}.get(said, 0) if said else 0 for said in words],
        dtype=np.int64,
    )
    said = word[seen.pairs[:, 0]]
    return np.where(said < 0, -1.0, np.where(said > 0, np.maximum(weight, _LEAST), weight))


def _best(seen: Comparison, limits: Bounds) -> dict[int, int]:
    """For every offer of the shop its nearest pair: the most probable, among hopeless ones the likest title.

    What is neither probable nor alike nor within the other's title is only the least unlike of the catalog: left out.
    """
    alike = np.nan_to_num(seen.column("token_sort"))
    within = (np.nan_to_num(seen.column("token_set")) >= CONTAINED) & (alike >= HALF_ALIKE)
    near = np.flatnonzero((seen.probability >= limits.missing) | (alike >= ALIKE) | within)
    hope = np.round(seen.probability[near], 2)
    order = near[np.lexsort((near, -alike[near], -hope, seen.pairs[near, 0]))]
    rows = seen.pairs[order, 0]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    return dict(zip(rows[first].tolist(), order[first].tolist(), strict=True))
