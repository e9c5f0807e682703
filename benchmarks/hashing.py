"""The joins that hash against their peers, in one run, on the same records.

    python -m benchmarks.hashing minhash FILE [--records N] [--unit words] [--size 1]
    python -m benchmarks.hashing simhash [--records 15000000]
    python -m benchmarks.hashing texts [--records 15000000]

`minhash` compares MinHash end to end (texts in, pairs out, 128 permutations) with rensa and
datasketch (16 bands of 8). Recall is that against the exact join on the first 60,000 texts. If FILE
has fewer records than asked for, it is repeated, with the number of the round behind each record.
rensa is fed record by record and in bulk; datasketch gets a tenth of the records, scaled up. The
peers split texts at spaces, which costs them least.

`simhash` looks up 10,000 hashes among many, against brute force on some of them, scaled up and
compared pair by pair. `texts` does the same from made-up texts to verified pairs.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.joins import is_installed, measure, sorted_codes
from benchmarks.measure import peak_megabytes
from matcher.array_types import Ints
from matcher.dedupe.base.join import parse_threshold
from matcher.dedupe.base.pair_codes import unpack_pairs
from matcher.dedupe.base.records import load_records, records_from_fields, records_from_texts
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import Shingling
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from matcher.dedupe.simhash.simhash import SimHash, SimHashIndex, compute_simhashes
from matcher.dedupe.simhash.simhash_tables import HashParts, HashTables, SimHashes

THRESHOLD = parse_threshold(0.8)  # Jaccard similarity of MinHash, bigram similarity of SimHash
RECALL = 0.94  # required of MinHash at the threshold
DEFAULT_TEXTS = 1_000_000  # texts of `minhash`
DEFAULT_HASHES = 15_000_000  # stored hashes of `simhash`, stored records of `texts`
LARGE_SET = 25_000_000  # records of two fields whose memory `simhash` reports
RECALL_SAMPLE = 60_000  # texts that recall is measured on
SLOW_PEER_SHARE = 10  # datasketch gets one text in ten
QUERIES = 10_000  # hashes or records looked up
BRUTE_FORCE_QUERIES = 20  # of these, compared with all stored hashes
VOCABULARY = 50_000  # made-up words of `texts`
PEER_THRESHOLD = 0.8
PEER_PERMUTATIONS = 128
PEER_BANDS = 16
PEER_ROWS = 8

SplitText = Callable[[str], list[str]]
Peer = Callable[[list[str], SplitText], Ints]


def main() -> None:
    """Run the benchmark that is named on the command line."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("benchmark", choices=["minhash", "simhash", "texts"])
    argument_parser.add_argument("file", nargs="?", type=Path)
    argument_parser.add_argument("--records", type=int)
    argument_parser.add_argument("--unit", choices=["words", "characters"], default="words")
    argument_parser.add_argument("--size", type=int, default=1)
    arguments = argument_parser.parse_args()
    if arguments.benchmark == "minhash":
        texts = _repeat_texts(arguments.file, arguments.records or DEFAULT_TEXTS)
        compare_minhash(texts, Shingling(arguments.unit, arguments.size))
    elif arguments.benchmark == "simhash":
        measure_hash_lookup(arguments.records or DEFAULT_HASHES)
    else:
        measure_text_lookup(arguments.records or DEFAULT_HASHES)
    print(f"{peak_megabytes() / 1024:.2f} GB at most")


def _repeat_texts(file: Path, count: int) -> list[str]:
    """Return `count` texts of a file; repeated ones end with the number of the round."""
    stored = load_records(file).texts
    texts = list[str]()
    while len(texts) < count:
        number = len(texts) // len(stored)
        texts += [f"{text} {number}" if number else text for text in stored]
    return texts[:count]


def compare_minhash(texts: list[str], shingling: Shingling) -> None:
    """Compare MinHash end to end with its peers, and the recall of each."""
    method = MinHash(THRESHOLD, shingling, recall=RECALL)
    split_text = _peer_splitter(shingling)
    ours = measure(f"minhash, {len(texts):,} texts", lambda: method(records_from_texts(texts)))
    print(f"{peak_megabytes() / 1024:.2f} GB until here")
    sample = texts[:RECALL_SAMPLE]
    expected = _exact_pairs(sample, split_text)
    _print_recall("minhash", sorted_codes(method(records_from_texts(sample))), expected)
    peers: list[tuple[str, Peer, int]] = [
        ("rensa", _join_with_rensa, 1),
        ("rensa in bulk", _join_with_rensa_in_bulk, 1),
        ("datasketch", _join_with_datasketch, SLOW_PEER_SHARE),
    ]
    for name, peer, share in peers:
        if not is_installed(name.split()[0]):
            continue
        peer_texts = texts[: len(texts) // share]
        # Bound as default values: the lambda must not see the next peer.
        theirs = measure(
            f"{name}, {len(peer_texts):,} texts",
            lambda peer=peer, peer_texts=peer_texts: peer(peer_texts, split_text),
        )
        seconds = theirs.seconds * share / ours.seconds
        cpu_seconds = theirs.cpu_seconds * share / ours.cpu_seconds
        print(f"{name} takes {cpu_seconds:.1f} x the CPU seconds, {seconds:.1f} x the seconds")
        _print_recall(name, peer(sample, split_text), expected)


@dataclass(frozen=True)
class Lookup:
    """Queries among stored hashes, the packed near pairs found, and the seconds that it took."""

    queries: SimHashes
    stored: SimHashes
    near: Ints
    seconds: float


def measure_hash_lookup(count: int) -> None:
    """Measure building, looking up and memory of SimHash tables, of 64 and of 32 bits."""
    random = np.random.default_rng(0)
    for bits, dtype in ((64, np.uint64), (32, np.uint32)):
        stored = random.integers(1, (1 << bits) - 1, count, dtype=dtype)
        begun = time.perf_counter()
        tables = HashTables(stored, HashParts(bits))
        build_seconds = time.perf_counter() - begun
        # Each query differs from a stored hash in one bit.
        queries = stored[random.integers(0, count, QUERIES)] ^ dtype(1 << 5)
        begun = time.perf_counter()
        candidates, near = _look_up(tables, queries, stored, bits // 8)
        lookup = Lookup(queries, stored, near, time.perf_counter() - begun)
        gigabytes = (tables.memory_bytes() + stored.nbytes) / 1e9
        print(
            f"{bits} bits, {count:,}: built in {build_seconds:.1f} s, {candidates:,} met, "
            f"{len(near):,} near in {lookup.seconds:.2f} s, {gigabytes:.2f} GB",
            flush=True,
        )
        _compare_with_brute_force(lookup)
        del tables
    fields = [random.integers(1, (1 << 32) - 1, LARGE_SET, dtype=np.uint32) for _ in range(2)]
    hash_bytes = sum(column.nbytes for column in fields)
    total_bytes = hash_bytes + HashTables(fields[0], HashParts(32)).memory_bytes()
    print(
        f"{LARGE_SET // 1_000_000} M records, two fields of 32 bits: "
        f"hashes {hash_bytes / 1e6:.0f} MB, with tables {total_bytes / 1e9:.2f} GB",
        flush=True,
    )


def _look_up(
    tables: HashTables, queries: SimHashes, stored: SimHashes, max_bits: int
) -> tuple[int, Ints]:
    """Return the number of candidates, and the packed pairs that differ in few bits."""
    near, candidates = list[Ints](), 0
    for codes in tables.find_matches(queries):
        rows, stored_rows = unpack_pairs(codes)
        distance = np.bitwise_count(queries[rows] ^ stored[stored_rows])
        near.append(codes[distance <= max_bits])
        candidates += len(codes)
    return candidates, np.unique(np.concatenate(near))


def _compare_with_brute_force(lookup: Lookup) -> None:
    """Compare the first few queries with all stored hashes; print time and agreement."""
    parts = HashParts(lookup.queries.dtype.itemsize * 8)
    begun, codes = time.perf_counter(), list[Ints]()
    for number, query in enumerate(lookup.queries[:BRUTE_FORCE_QUERIES]):
        is_near = np.bitwise_count(query ^ lookup.stored) <= parts.bits // 8
        near = np.flatnonzero(is_near)
        codes.append(number << 32 | near[parts.agree(query, lookup.stored[near])])
    seconds = (time.perf_counter() - begun) * QUERIES / BRUTE_FORCE_QUERIES
    ours = lookup.near[lookup.near < BRUTE_FORCE_QUERIES << 32]
    theirs = np.concatenate(codes)
    common = len(np.intersect1d(ours, theirs))
    print(
        f"brute force would take {seconds:.0f} s, {seconds / lookup.seconds:.0f} x; "
        f"{common:,} pairs are the same, {len(ours) - common} only ours, "
        f"{len(theirs) - common} only brute force's",
        flush=True,
    )


def measure_text_lookup(count: int) -> None:
    """Look up records of two fields, words in another order, among many: from texts to pairs."""
    random = np.random.default_rng(0)
    vocabulary = [f"{chr(97 + number % 26)}{number:x}" for number in range(VOCABULARY)]
    titles = _made_up_texts(random, vocabulary, count, 8)
    authors = _made_up_texts(random, vocabulary, count, 3)
    stored = records_from_fields(titles, authors)
    query_rows = random.integers(0, count, QUERIES).tolist()
    queries = records_from_fields(
        *([_reverse_words(column[row]) for row in query_rows] for column in (titles, authors))
    )
    for bits in (64, 32):
        times = [time.perf_counter()]
        method = SimHash(parse_threshold(0.8), HashParts(bits))
        # Progress is reported once a field is hashed: the last report marks the end of hashing.
        index = SimHashIndex(
            stored, method, lambda *_, times=times: times.append(time.perf_counter())
        )
        begun = time.perf_counter()
        hash_seconds, build_seconds = times[-1] - times[0], begun - times[-1]
        hashes = [compute_simhashes(column, bits) for column in queries.fields]
        result = index.look_up(queries, hashes)
        lookup_seconds = time.perf_counter() - begun
        hits = len(np.intersect1d(result.right, np.unique(query_rows)))
        print(
            f"{bits} bits: texts hashed in {hash_seconds:.1f} s, "
            f"tables built in {build_seconds:.1f} s, "
            f"{QUERIES:,} records asked in {lookup_seconds:.2f} s, "
            f"{hits:,} of {len(set(query_rows)):,} found, {index.memory_bytes() / 1e9:.2f} GB",
            flush=True,
        )


def _made_up_texts(
    random: np.random.Generator, vocabulary: list[str], count: int, size: int
) -> list[str]:
    """Return `count` texts of `size` random words."""
    texts = list[str]()
    # In chunks, so that the word numbers of all texts never stand in memory as Python lists.
    for start in range(0, count, 100_000):
        shape = (min(100_000, count - start), size)
        for numbers in random.integers(0, len(vocabulary), shape).tolist():
            texts.append(" ".join([vocabulary[number] for number in numbers]))
    return texts


def _reverse_words(text: str) -> str:
    return " ".join(text.split()[::-1])


def _peer_splitter(shingling: Shingling) -> SplitText:
    """Return a plain function from a text to its shingles, for the peers."""
    size = shingling.size

    def split_text(text: str) -> list[str]:
        folded = text.casefold()
        items: Any = folded.split() if shingling.unit == "words" else folded
        if not items:
            return [text]
        last_start = max(1, len(items) - size + 1)
        return [" ".join(items[start : start + size]) for start in range(last_start)]

    return split_text


def _exact_pairs(sample: list[str], split_text: SplitText) -> Ints:
    """Return the pairs of the exact join, with shingles turned into words."""
    number_of: dict[str, int] = {}
    texts = list[str]()
    for text in sample:
        numbers = [number_of.setdefault(part, len(number_of)) for part in split_text(text)]
        texts.append(" ".join(map(str, numbers)))
    return sorted_codes(PrefixFilter(THRESHOLD, "jaccard")(records_from_texts(texts)))


def _print_recall(name: str, codes: Ints, expected: Ints) -> None:
    recall = len(np.intersect1d(codes, expected)) / max(1, len(expected))
    print(f"{name}: recall {recall:.4f} of {len(expected):,} true pairs")


def _join_with_rensa(texts: list[str], split_text: SplitText) -> Ints:
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=PEER_THRESHOLD, num_perm=PEER_PERMUTATIONS, num_bands=PEER_BANDS)
    signatures = list[Any]()
    for number, text in enumerate(texts):
        signature = RMinHash(num_perm=PEER_PERMUTATIONS, seed=1)
        signature.update(split_text(text))
        index.insert(number, signature)
        signatures.append(signature)
    return _verify_peer_pairs(signatures, map(index.query, signatures))


def _join_with_rensa_in_bulk(texts: list[str], split_text: SplitText) -> Ints:
    from rensa import RMinHash, RMinHashLSH

    shingles = [split_text(text) for text in texts]
    signatures = RMinHash.from_token_sets(shingles, PEER_PERMUTATIONS, 1)
    index = RMinHashLSH(PEER_THRESHOLD, PEER_PERMUTATIONS, PEER_BANDS)
    index.insert_many(signatures)
    return _verify_peer_pairs(signatures, index.query_all(signatures))


def _join_with_datasketch(texts: list[str], split_text: SplitText) -> Ints:
    from datasketch import MinHash as PeerMinHash
    from datasketch import MinHashLSH

    index = MinHashLSH(
        threshold=PEER_THRESHOLD, num_perm=PEER_PERMUTATIONS, params=(PEER_BANDS, PEER_ROWS)
    )
    signatures = list[Any]()
    for number, text in enumerate(texts):
        signature: Any = PeerMinHash(num_perm=PEER_PERMUTATIONS)
        signature.update_batch([part.encode() for part in split_text(text)])
        index.insert(number, signature, check_duplication=False)
        signatures.append(signature)
    return _verify_peer_pairs(signatures, map(index.query, signatures))


def _verify_peer_pairs(signatures: list[Any], matches: Iterable[Iterable[int]]) -> Ints:
    """Return the packed pairs whose estimated similarity reaches the threshold, each once."""
    codes = list[int]()
    for left, right in _later_matches(matches):
        if signatures[left].jaccard(signatures[right]) >= PEER_THRESHOLD:
            codes.append(left << 32 | right)
    return np.sort(np.array(codes, dtype=np.int64))


def _later_matches(matches: Iterable[Iterable[int]]) -> Iterator[tuple[int, int]]:
    for number, partners in enumerate(matches):
        for partner in partners:
            if partner > number:
                yield number, partner


if __name__ == "__main__":
    main()
