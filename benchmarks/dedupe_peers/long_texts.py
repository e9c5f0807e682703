"""Re-posted long texts by a recipe: what a similarity threshold cannot tell, a taught decision can.

An advert has a title, a company, a category, a place, a contact, and a text of five sections under
headings: the company (the same in all its adverts), tasks, profile, benefits (from a pool that all
companies share), and how to apply (one of few wordings). Words are drawn from 6,000 by Zipf's law.

Seven in ten adverts are re-posted, one to four times. A copy is restructured (sections and
sentences in another order), or shortened to 40 % of the sentences of tasks and profile (the first
ones of each and one drawn at random), or extended by the company text and the benefits of an agency;
two in three copies combine two of these. One word in a hundred changes. An agency posts half of the copies: another company and contact. Titles lose
or gain a word, and one in four gets a synonymous one.

The hard negatives: companies search for several people at once, so a third of all originals are
siblings of the original before. They share company, benefits, contact, and 30 to 70 % of the
sentences of tasks and profile, under another title.

Without labels, what is told apart depends on the recipe, so it is varied too.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.dedupe_peers.results import best_threshold
from benchmarks.measure import processor_seconds
from matcher.array_types import Bools, Doubles, Pairs
from matcher.dedupe.base.records import Records
from matcher.dedupe.base.token_overlap import build_token_sets, count_shared_tokens
from matcher.dedupe.minhash.shingles import Shingling
from matcher.taught.candidates import find_rows
from matcher.taught.columns.pages import TextOptions, select_sections
from matcher.taught.deduplication import NO_LABELS, Labels, TaughtOptions, decide

COLUMNS = ("title", "company", "category", "place", "contact", "text")
HEADINGS = ("About us", "Your tasks", "Your profile", "Benefits", "How to apply")
WORDS = 6_000
COMPANIES_PER_ADVERT = 0.15
REPOSTED_SHARE = 0.7
SIBLING_SHARE = 1 / 3
SHORTENED_TO = 0.4
CHANGED_WORDS = 1 / 100
SHINGLE_WORDS = 6
OPTIONS = TaughtOptions(text=TextOptions(source_column="company"), kinds={"company": "name"})
# Labelled pairs of the taught decision.
LABELS = 200
# Recipes beside the plain one: share of siblings, changed words.
VARIATIONS = {
    "no siblings": (0.0, CHANGED_WORDS),
    "six in ten originals are siblings": (0.6, CHANGED_WORDS),
    "3 % of the words change": (SIBLING_SHARE, 0.03),
    "6 % of the words change": (SIBLING_SHARE, 0.06),
}


@dataclass(frozen=True)
class Advert:
    """An advert: metadata, sections as lists of sentences, and the original that it copies."""

    title: str
    company: str
    category: str
    place: str
    contact: str
    about: tuple[str, ...]
    tasks: tuple[str, ...]
    profile: tuple[str, ...]
    benefits: tuple[str, ...]
    apply: tuple[str, ...]
    original: int
    is_reordered: bool = False

    def values(self, generator: random.Random) -> tuple[str, ...]:
        """Return the advert as a row of COLUMNS."""
        sections = [
            *zip(
                HEADINGS,
                (self.about, self.tasks, self.profile, self.benefits, self.apply),
                strict=True,
            )
        ]
        if self.is_reordered:
            generator.shuffle(sections)
        text = "\n".join(
            f"{heading}:\n{' '.join(section)}" for heading, section in sections if section
        )
        return self.title, self.company, self.category, self.place, self.contact, text


class Recipe:
    """Makes adverts and their copies; the same seed always makes the same ones."""

    def __init__(
        self,
        seed: int,
        sibling_share: float = SIBLING_SHARE,
        changed_words: float = CHANGED_WORDS,
    ) -> None:
        self._sibling_share = sibling_share
        self._changed_words = changed_words
        self.generator = random.Random(seed)
        letters = "aeiou", "bcdfghklmnprstvwz"
        self._words = list[str]()
        while len(self._words) < WORDS:
            word = "".join(
                self.generator.choice(letters[(place + 1) % 2])
                for place in range(self.generator.randrange(3, 10))
            )
            self._words.append(word)
        self._weights = [1 / (rank + 5) for rank in range(WORDS)]
        self._benefits = [self._sentence() for _ in range(60)]
        self._applications = [self._sentences(3) for _ in range(12)]
        self._categories = [self._word() for _ in range(15)]
        self._places = [self._word().title() for _ in range(60)]

    def adverts(self, count: int) -> list[Advert]:
        """Make originals with their copies until there are `count` adverts."""
        companies = [self._company() for _ in range(max(3, int(count * COMPANIES_PER_ADVERT)))]
        adverts = list[Advert]()
        original = 0
        previous: Advert | None = None
        while len(adverts) < count:
            advert = self._original(self.generator.choice(companies), original)
            if previous is not None and self.generator.random() < self._sibling_share:
                advert = self._sibling(previous, original)
            adverts.append(advert)
            if self.generator.random() < REPOSTED_SHARE:
                for _ in range(self.generator.choice((1, 1, 2, 3, 4))):
                    adverts.append(self._copy(advert, companies))
            previous = advert
            original += 1
        self.generator.shuffle(adverts)
        return adverts[:count]

    def _word(self) -> str:
        return self.generator.choices(self._words, self._weights)[0]

    def _sentence(self) -> str:
        words = self.generator.choices(
            self._words, self._weights, k=self.generator.randrange(8, 19)
        )
        return " ".join(words).capitalize() + "."

    def _sentences(self, count: int) -> tuple[str, ...]:
        return tuple(self._sentence() for _ in range(count))

    def _company(self) -> tuple[str, str, tuple[str, ...]]:
        name = f"{self.generator.choice(self._words)} {self.generator.choice(self._words)}".title()
        return name, f"jobs@{name.split()[0].lower()}.example", self._sentences(6)

    def _original(self, company: tuple[str, str, tuple[str, ...]], number: int) -> Advert:
        generator = self.generator
        return Advert(
            " ".join(generator.choices(self._words, k=3)).title(),
            company[0],
            generator.choice(self._categories),
            generator.choice(self._places),
            company[1],
            company[2],
            self._sentences(generator.randrange(6, 12)),
            self._sentences(generator.randrange(5, 10)),
            tuple(generator.sample(self._benefits, 6)),
            generator.choice(self._applications),
            number,
        )

    def _sibling(self, advert: Advert, number: int) -> Advert:
        kept_share = self.generator.uniform(0.3, 0.7)
        title = [*advert.title.split()[:1], *self.generator.choices(self._words, k=2)]
        return replace(
            advert,
            title=" ".join(title).title(),
            tasks=self._replace_sentences(advert.tasks, kept_share),
            profile=self._replace_sentences(advert.profile, kept_share),
            original=number,
        )

    def _replace_sentences(self, sentences: Sequence[str], kept_share: float) -> tuple[str, ...]:
        return tuple(
            sentence if self.generator.random() < kept_share else self._sentence()
            for sentence in sentences
        )

    def _copy(
        self, advert: Advert, companies: Sequence[tuple[str, str, tuple[str, ...]]]
    ) -> Advert:
        generator = self.generator
        changes = generator.sample(
            ("restructured", "shortened", "extended"), generator.choice((1, 2, 2))
        )
        copy = advert
        if "restructured" in changes:
            copy = replace(
                copy,
                tasks=tuple(generator.sample(copy.tasks, len(copy.tasks))),
                profile=tuple(generator.sample(copy.profile, len(copy.profile))),
                is_reordered=True,
            )
        if "shortened" in changes:
            copy = replace(
                copy,
                tasks=self._shorten(copy.tasks),
                profile=self._shorten(copy.profile),
                benefits=(),
            )
        agency = generator.choice(companies)
        if "extended" in changes:
            benefits = (*copy.benefits, *generator.sample(self._benefits, 5))
            copy = replace(copy, about=(*copy.about, *agency[2]), benefits=benefits)
        if generator.random() < 0.5:
            copy = replace(copy, company=agency[0], contact=agency[1], about=agency[2])
        return replace(
            copy,
            title=self._change_title(copy.title),
            apply=generator.choice(self._applications),
            tasks=tuple(map(self._change_words, copy.tasks)),
            profile=tuple(map(self._change_words, copy.profile)),
        )

    def _shorten(self, sentences: Sequence[str]) -> tuple[str, ...]:
        count = max(1, round(SHORTENED_TO * len(sentences)))
        # The start of a section survives; one sentence comes from anywhere.
        places = sorted({*range(count - 1), self.generator.randrange(count - 1, len(sentences))})
        return tuple(sentences[place] for place in places)

    def _change_words(self, sentence: str) -> str:
        words = [
            self._word() if self.generator.random() < self._changed_words else word
            for word in sentence.split()
        ]
        return " ".join(words)

    def _change_title(self, title: str) -> str:
        words = title.split()
        draw = self.generator.random()
        if draw < 0.3:
            words.pop(self.generator.randrange(len(words)))
        elif draw < 0.6:
            words.insert(self.generator.randrange(len(words) + 1), self._word().title())
        elif draw < 0.85:
            words[self.generator.randrange(len(words))] = self._word().title()
        return " ".join(words)


def compare_long_texts(count: int) -> None:
    """Print precision and recall of a taught decision, and of a similarity threshold."""
    records, truth = make_records(Recipe(0), count)
    fields = records.fields
    duplicates = len({row for pair in truth.tolist() for row in pair})
    print(f"{count:,} adverts, {duplicates / count:.0%} with a copy, {len(truth):,} true pairs")
    jaccard = _jaccard(fields[-1], truth)
    print(
        f"Jaccard of true pairs, {SHINGLE_WORDS}-word shingles: 5 % below {np.quantile(jaccard, 0.05):.2f}, "
        f"median {np.median(jaccard):.2f}; {np.mean(jaccard < 0.37):.0%} below 0.37"
    )
    jaccard = _jaccard([select_sections(text, "auto") for text in fields[-1]], truth)
    print(
        f"the same, sections of the thing only: 5 % below {np.quantile(jaccard, 0.05):.2f}, median {np.median(jaccard):.2f}"
    )
    pairs = decide(records, None, options=OPTIONS).scored.pairs
    labels = np.zeros(len(pairs), bool)
    rows_of_truth = find_rows(pairs, truth)
    labels[rows_of_truth[rows_of_truth >= 0]] = True
    print(f"candidates: {len(pairs):,}, {np.mean(rows_of_truth >= 0):.1%} of the true pairs")
    similarity = _jaccard(fields[-1], pairs)
    threshold = best_threshold(np.round(similarity, 2), labels)
    _print_figures(
        f"Jaccard from {threshold:.2f}, the best threshold", pairs[similarity >= threshold], truth
    )
    _print_decision("taught, no labels", records, NO_LABELS, truth)
    drawn = _draw_labels(pairs, labels)
    _print_decision(f"taught, {LABELS} labels", records, drawn, truth)
    for title, shares in VARIATIONS.items():
        varied, truth = make_records(Recipe(0, *shares), count)
        _print_decision(f"no labels, {title}", varied, NO_LABELS, truth)


def make_records(recipe: Recipe, count: int) -> tuple[Records, Pairs]:
    """Return adverts as records, and the pairs of one original."""
    adverts = recipe.adverts(count)
    rows = [advert.values(recipe.generator) for advert in adverts]
    fields = tuple(map(list, zip(*rows, strict=True)))
    records = Records(fields, [" ".join(row) for row in rows], range(count), COLUMNS)
    return records, _true_pairs([advert.original for advert in adverts])


def _draw_labels(pairs: Pairs, labels: Bools) -> Labels:
    """Draw labelled pairs: half of them duplicates."""
    order = np.random.default_rng(0).permutation(len(pairs))
    chosen = np.concatenate(
        [order[labels[order]][: LABELS // 2], order[~labels[order]][: LABELS // 2]]
    )
    return Labels(pairs[chosen], labels[chosen])


def _print_decision(title: str, records: Records, labels: Labels, truth: Pairs) -> None:
    begun = processor_seconds()
    result = decide(records, None, labels, options=OPTIONS).result
    seconds = processor_seconds() - begun
    decided = np.column_stack((result.left, result.right))
    # Labelled pairs are known, and count for nothing.
    known = set(map(tuple, labels.pairs.tolist()))
    decided = np.array([pair for pair in decided.tolist() if tuple(pair) not in known]).reshape(
        -1, 2
    )
    asked = np.array([pair for pair in truth.tolist() if tuple(pair) not in known]).reshape(-1, 2)
    _print_figures(f"{title} ({seconds:.0f} CPU s)", decided, asked)


def _print_figures(title: str, decided: Pairs, truth: Pairs) -> None:
    right = len(set(map(tuple, decided.tolist())) & set(map(tuple, truth.tolist())))
    precision, recall = right / max(1, len(decided)), right / max(1, len(truth))
    print(f"{title:50} precision {precision:.3f}, recall {recall:.3f}", flush=True)


def _jaccard(texts: Sequence[str], pairs: Pairs) -> Doubles:
    bags = build_token_sets(*Shingling("words", SHINGLE_WORDS)(texts))
    shared = count_shared_tokens(bags, bags, pairs[:, 0], pairs[:, 1])
    union = bags.sizes[pairs[:, 0]] + bags.sizes[pairs[:, 1]] - shared
    similarity: Doubles = shared / np.maximum(union, 1)
    return similarity


def _true_pairs(originals: Sequence[int]) -> Pairs:
    order = np.argsort(originals, kind="stable")
    sorted_originals = np.array(originals)[order]
    pairs = list[tuple[int, int]]()
    for step in range(1, 6):
        is_same = sorted_originals[step:] == sorted_originals[:-step]
        for first, second in zip(order[:-step][is_same], order[step:][is_same], strict=True):
            pairs.append((min(int(first), int(second)), max(int(first), int(second))))
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
