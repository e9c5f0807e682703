"""The rung that the words of `scout dedupe` name, with what can be set of it; words that do not fit are refused."""

from dataclasses import dataclass, fields
from math import comb
from typing import Literal

from catalog.errors import UsageError
from matcher.dedupe.base.join import Rung, exactly
from matcher.dedupe.base.measures import Similarity
from matcher.dedupe.cluster.chain import Chain
from matcher.dedupe.edit.segments import Segments
from matcher.dedupe.embedding.embeddings import Embeddings
from matcher.dedupe.embedding.encoders import model
from matcher.dedupe.embedding.neighbours import Neighbours, Search
from matcher.dedupe.exact.exact import Exact
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import Shingling, Unit
from matcher.dedupe.minhash.signatures import PERMUTATIONS, RECALL
from matcher.dedupe.prefix.prefix_filter import LEVELS, PrefixFilter
from matcher.dedupe.simhash.simhash import SimHash
from matcher.dedupe.simhash.simhash_tables import Parts

Method = Literal["exact", "prefix-filter", "segments", "minhash", "simhash", "embeddings", "ladder"]
Cheaper = Literal["segments", "minhash", "simhash"]
OFFERED: dict[str, tuple[Similarity, ...]] = {
    "prefix-filter": ("edit", "jaccard", "cosine"),
    "segments": ("edit",),
    "minhash": ("jaccard",),
    "embeddings": ("cosine",),
    "ladder": ("edit", "jaccard", "cosine"),
}
STEPS: dict[Similarity, tuple[Method, ...]] = {
    "edit": ("segments", "minhash"),
    "jaccard": ("minhash",),
    "cosine": ("prefix-filter",),
}
LOOSE = 0.4
MOST_TABLES = 70


@dataclass(frozen=True)
class Tuning:
    """What can be set of a single method; None is its default."""

    levels: int | None = None
    shingles: Unit | None = None
    shingle_size: int | None = None
    permutations: int | None = None
    recall: float | None = None
    bits: int | None = None
    parts: int | None = None
    agree: int | None = None
    model: str | None = None
    neighbours: int | None = None
    search: Search | None = None
    candidates: Cheaper | None = None
    loose: float | None = None


OF: dict[str, str] = {
    "levels": "prefix-filter",
    **dict.fromkeys(("shingles", "shingle_size", "permutations", "recall"), "minhash"),
    **dict.fromkeys(("bits", "parts", "agree"), "simhash"),
    **dict.fromkeys(("model", "neighbours", "search", "candidates", "loose"), "embeddings"),
}


def chosen(method: Method, similarity: Similarity | None, threshold: float, tuning: Tuning) -> Rung:
    """The rung that the words of the command name. Raises UsageError where they do not fit, ConfigError."""
    fitting = OFFERED.get(method, ())
    if similarity and similarity not in fitting:
        raise UsageError(
            f"--similarity {similarity}: --method {method} has {' or '.join(fitting) or 'none'}"
        )
    for name in (one.name for one in fields(tuning)):
        if getattr(tuning, name) is not None and OF[name] != method:
            raise UsageError(
                f"--{name.replace('_', '-')}: is of --method {OF[name]}, not of --method {method}"
            )
    kind = similarity or (fitting[0] if fitting else "edit")
    if method != "ladder":
        return _rung(method, kind, threshold, tuning)
    steps: list[Method] = ["exact", *STEPS[kind]]
    return Chain([(step, _rung(step, kind, threshold, tuning)) for step in steps])


def minhash(threshold: float, tuning: Tuning) -> MinHash:
    """MinHash as it is wanted. Raises UsageError."""
    recall = tuning.recall or RECALL
    if not 0 < recall < 1:
        raise UsageError(f"--recall {recall}: must be above 0 and below 1")
    shingling = Shingling(
        tuning.shingles or "words",
        tuning.shingle_size or (3 if tuning.shingles == "characters" else 1),
    )
    return MinHash(exactly(threshold), shingling, tuning.permutations or PERMUTATIONS, recall)


def _rung(method: Method, similarity: Similarity, threshold: float, tuning: Tuning) -> Rung:
    match method:
        case "exact":
            return Exact()
        case "prefix-filter":
            return PrefixFilter(exactly(threshold), similarity, tuning.levels or LEVELS)
        case "minhash":
            return minhash(threshold, tuning)
        case "simhash":
            return SimHash(exactly(threshold), _parts(tuning))
        case "embeddings":
            return _embeddings(threshold, tuning)
        case _:
            return Segments(exactly(threshold))


def _parts(tuning: Tuning) -> Parts:
    bits, count, agree = tuning.bits or 64, tuning.parts or 4, tuning.agree or 2
    if bits not in (32, 64):
        raise UsageError(f"--bits {bits}: hashes have 32 or 64")
    if not agree <= count <= bits // 2 or bits % count:
        raise UsageError(
            f"--parts {count}, --agree {agree}: {bits} bits must fall into equal parts, of which --agree are some"
        )
    if comb(count, agree) > MOST_TABLES:
        raise UsageError(
            f"--parts {count}, --agree {agree}: that takes {comb(count, agree)} tables, more than {MOST_TABLES}"
        )
    return Parts(bits, count, agree)


def _embeddings(threshold: float, tuning: Tuning) -> Embeddings:
    if tuning.model is None:
        raise UsageError("--method embeddings: name a model by --model NAME_OR_FOLDER")
    if tuning.loose is not None and tuning.candidates is None:
        raise UsageError("--loose: is the least similarity of --candidates, which is not given")
    cheaper = tuning.candidates and _rung(
        tuning.candidates, "edit", tuning.loose or LOOSE, Tuning()
    )
    neighbours = Neighbours(tuning.neighbours or 10, tuning.search or "ivf")
    return Embeddings(exactly(threshold), model(tuning.model), neighbours, cheaper or None)
