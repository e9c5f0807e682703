"""Build the join method that `scout dedupe` options name; refuse unfit options."""

from dataclasses import asdict, dataclass
from math import comb
from typing import Literal

from catalog.errors import UsageError
from matcher.dedupe.base.join import JoinMethod, parse_threshold
from matcher.dedupe.base.similarity_measures import SimilarityName
from matcher.dedupe.deduplication import default_method
from matcher.dedupe.embedding.embeddings import Embeddings
from matcher.dedupe.embedding.encoders import load_encoder
from matcher.dedupe.embedding.neighbour_search import (
    DEFAULT_NEIGHBOURS,
    IndexKind,
    NeighbourSearch,
)
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import ShingleUnit, Shingling
from matcher.dedupe.minhash.signatures import DEFAULT_PERMUTATIONS, DEFAULT_RECALL
from matcher.dedupe.prefix.prefix_filter import DEFAULT_LEVELS, PrefixFilter
from matcher.dedupe.simhash.simhash import SimHash
from matcher.dedupe.simhash.simhash_tables import HashParts

# "ladder" is the promised command-line value for the chain of methods.
MethodOption = Literal[
    "exact", "prefix-filter", "segments", "minhash", "simhash", "embeddings", "ladder"
]
CandidateMethod = Literal["segments", "minhash", "simhash"]

SIMILARITIES: dict[str, tuple[SimilarityName, ...]] = {  # of each method, the default first
    "prefix-filter": ("edit", "jaccard", "cosine"),
    "segments": ("edit",),
    "minhash": ("jaccard",),
    "embeddings": ("cosine",),
    "ladder": ("edit", "jaccard", "cosine"),
}
DEFAULT_CHARACTER_SHINGLE = 3  # characters of a shingle, with --shingles characters
DEFAULT_CANDIDATE_THRESHOLD = 0.4  # similarity of --candidates, unless --loose says otherwise
MAX_TABLES = 70  # sorted tables of SimHashes; cap on memory, each has an entry per record


@dataclass(frozen=True)
class MethodOptions:
    """The options that belong to a single method; None is the method's default."""

    levels: int | None = None
    shingles: ShingleUnit | None = None
    shingle_size: int | None = None
    permutations: int | None = None
    recall: float | None = None
    bits: int | None = None
    parts: int | None = None
    agree: int | None = None
    model: str | None = None
    neighbours: int | None = None
    search: IndexKind | None = None
    candidates: CandidateMethod | None = None
    loose: float | None = None


METHOD_OF_OPTION = {
    "levels": "prefix-filter",
    "shingles": "minhash",
    "shingle_size": "minhash",
    "permutations": "minhash",
    "recall": "minhash",
    "bits": "simhash",
    "parts": "simhash",
    "agree": "simhash",
    "model": "embeddings",
    "neighbours": "embeddings",
    "search": "embeddings",
    "candidates": "embeddings",
    "loose": "embeddings",
}


def build_method(
    method: MethodOption,
    similarity: SimilarityName | None,
    threshold: float,
    options: MethodOptions,
) -> JoinMethod:
    """Build the join method of a command. Raises UsageError if options do not fit, ConfigError."""
    supported = SIMILARITIES.get(method, ())
    if similarity and similarity not in supported:
        raise UsageError(
            f"--similarity {similarity}: --method {method} has {' or '.join(supported) or 'none'}"
        )
    _refuse_options_of_other_methods(method, options)
    match method:
        case "ladder":
            return default_method("chain", threshold, similarity or "edit")
        case "prefix-filter":
            levels = options.levels or DEFAULT_LEVELS
            return PrefixFilter(parse_threshold(threshold), similarity or "edit", levels)
        case "minhash":
            return build_minhash(threshold, options)
        case "simhash":
            return SimHash(parse_threshold(threshold), _build_parts(options))
        case "embeddings":
            return _build_embeddings(threshold, options)
        case _:
            return default_method(method, threshold)


def _refuse_options_of_other_methods(method: MethodOption, options: MethodOptions) -> None:
    """Raise UsageError if an option is set that the method does not have."""
    for name, value in asdict(options).items():
        owner = METHOD_OF_OPTION[name]
        if value is not None and owner != method:
            option = name.replace("_", "-")
            raise UsageError(f"--{option}: is of --method {owner}, not of --method {method}")


def build_minhash(threshold: float, options: MethodOptions) -> MinHash:
    """Build the MinHash join with its options. Raises UsageError."""
    recall = options.recall or DEFAULT_RECALL
    if not 0 < recall < 1:
        raise UsageError(f"--recall {recall}: must be above 0 and below 1")
    unit = options.shingles or "words"
    default_size = DEFAULT_CHARACTER_SHINGLE if unit == "characters" else 1
    return MinHash(
        parse_threshold(threshold),
        Shingling(unit, options.shingle_size or default_size),
        options.permutations or DEFAULT_PERMUTATIONS,
        recall,
    )


def _build_parts(options: MethodOptions) -> HashParts:
    default = HashParts()
    bits = options.bits or default.bits
    count = options.parts or default.count
    agree = options.agree or default.equal
    if bits not in (32, 64):
        raise UsageError(f"--bits {bits}: hashes have 32 or 64")
    if not agree <= count <= bits // 2 or bits % count:
        raise UsageError(
            f"--parts {count}, --agree {agree}: {bits} bits must fall into equal parts, "
            "of which --agree are some"
        )
    tables = comb(count, agree)
    if tables > MAX_TABLES:
        raise UsageError(
            f"--parts {count}, --agree {agree}: that takes {tables} tables, more than {MAX_TABLES}"
        )
    return HashParts(bits, count, agree)


def _build_embeddings(threshold: float, options: MethodOptions) -> Embeddings:
    if options.model is None:
        raise UsageError("--method embeddings: name a model by --model NAME_OR_FOLDER")
    if options.loose is not None and options.candidates is None:
        raise UsageError("--loose: is the least similarity of --candidates, which is not given")
    candidates = None
    if options.candidates is not None:
        candidate_threshold = options.loose or DEFAULT_CANDIDATE_THRESHOLD
        candidates = default_method(options.candidates, candidate_threshold)
    neighbours = NeighbourSearch(options.neighbours or DEFAULT_NEIGHBOURS, options.search or "ivf")
    return Embeddings(
        parse_threshold(threshold), load_encoder(options.model), neighbours, candidates
    )
