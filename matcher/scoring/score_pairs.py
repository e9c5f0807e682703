"""Every pair worth a look, judged: features, what links and keys say, and the probability of being the same offer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sklearn

from catalog.models import Word
from matcher.blocking.candidates import candidates
from matcher.blocking.nearest_rows import Pairs
from matcher.blocking.vectors import space
from matcher.features.cache import Memory, digests, fingerprint
from matcher.features.pair_features import TRENDS, features
from matcher.features.variant_words import Variants, learn_variants
from matcher.records.record import Record
from matcher.scoring.identifier_evidence import Evidence, evidence, weigh
from matcher.scoring.leftover_boost import look_again
from matcher.training.classifier import Classifier, Floats, formula, taught
from matcher.training.feedback import Lessons, lessons


@dataclass(frozen=True)
class Comparison:
    """Both sides, the pairs looked at, and per pair its features, its evidence and its probability.

    `judge` is what turned features into probabilities, before links, keys and the second look.
    """

    shop: Sequence[Record]
    known: Sequence[Record]
    pairs: Pairs
    table: Floats
    said: Evidence
    probability: Floats
    variants: Variants
    judge: Classifier = formula

    def value(self, pair: int, feature: str) -> float:
        """One feature of one pair; NaN where it is unknown."""
        return float(self.column(feature)[pair])

    def column(self, feature: str) -> Floats:
        """One feature of all pairs; NaN where it is unknown."""
        return self.table[:, list(TRENDS).index(feature)]


def compare(
    shop: Sequence[Record],
    known: Sequence[Record],
    words: Sequence[Word | None] = (),
    memory: Memory | None = None,
) -> Comparison:
    """The comparison of both sides.

    The classifier is taught by the catalog, by pages whose link is known, and by people's words on the shop's offers.
    What an earlier comparison left in `memory` is not worked out again.
    """
    variants = learn_variants(known)
    if not shop or not known:
        none = np.empty((0, len(TRENDS)), np.float32)
        return Comparison(
            shop,
            known,
            np.empty((0, 2), np.int64),
            none,
            Evidence([], [], 0.0),
            none[:, 0],
            variants,
        )
    both = space(shop, known)
    pairs = candidates(shop, known, both)
    table, said = features(shop, known, both, pairs, memory), evidence(shop, known, pairs)
    judge = _judge(
        known, _pages(shop, pairs, said), lessons(pairs, table, formula(table), words), memory
    )
    probability = look_again(pairs, weigh(judge(table), said, table), len(known))
    return Comparison(shop, known, pairs, table, said, probability, variants, judge)


def _judge(
    known: Sequence[Record], pages: Mapping[int, Record], heard: Lessons, memory: Memory | None
) -> Classifier:
    """A judge for this catalog; the one that is remembered where it would learn from just the same."""
    if memory is None:
        return taught(known, pages, heard)
    own = [*pages]
    seen = (
        digests(known),
        np.array(own, dtype=np.int64),
        digests([pages[row] for row in own]),
        heard.table,
        heard.same,
    )
    learnt_from = fingerprint(sklearn.__version__.encode(), *(part.tobytes() for part in seen))
    judge: Classifier = memory.judge(learnt_from, lambda: taught(known, pages, heard))
    return judge


def _pages(shop: Sequence[Record], pairs: Pairs, said: Evidence) -> dict[int, Record]:
    """The shop's own record of those known offers whose page a link tells."""
    linked = [n for n, link in enumerate(said.links) if link in {"link", "path", "last"}]
    return {int(pairs[n, 1]): shop[int(pairs[n, 0])] for n in reversed(linked)}
