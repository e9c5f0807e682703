"""The rungs that hash against their peers, in one run, on the same records.

    python -m benchmarks.hashing minhash FILE [--records 1000000] [--unit words] [--size 1]   rensa and datasketch
    python -m benchmarks.hashing simhash [--records 15000000]                                 10,000 hashes against many
    python -m benchmarks.hashing texts [--records 15000000]                                   the same, from texts on

MinHash is taken end to end: texts in, pairs out, 128 permutations, 16 bands of 8. Recall is that of the exact join on
the first 60,000 texts. datasketch does a tenth of the records and is scaled up. Where FILE has fewer records than asked
for it is repeated, with the round's number behind each record. rensa is fed record by record and in bulk; the peers'
words are what stands between spaces, which costs them least. SimHash's peer is brute force: some of the hashes against
all of the many, scaled up, pair by pair.
"""

import argparse
import resource
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.joins import codes, installed, timed
from matcher.dedupe.base.join import Indices, exactly
from matcher.dedupe.base.records import load, of_fields, of_texts
from matcher.dedupe.minhash.minhash import MinHash
from matcher.dedupe.minhash.shingles import Shingling
from matcher.dedupe.prefix.prefix_filter import PrefixFilter
from matcher.dedupe.simhash.simhash import SimHash, SimHashIndex, hashed
from matcher.dedupe.simhash.simhash_tables import Hashes, Parts, Tables

THRESHOLD = exactly(0.8)
RECALL = 0.94
SAMPLE = 60_000
TENTH = 10
ASKED = 10_000
BY_FORCE = 20
Shingle = Callable[[str], list[str]]


def main() -> None:
    """Carry out the benchmark that is named."""
    words = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    words.add_argument("what", choices=["minhash", "simhash", "texts"])
    words.add_argument("file", nargs="?", type=Path)
    words.add_argument("--records", type=int)
    words.add_argument("--unit", choices=["words", "characters"], default="words")
    words.add_argument("--size", type=int, default=1)
    given = words.parse_args()
    {"minhash": minhash, "simhash": simhash, "texts": texts}[given.what](given)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB at most")


def minhash(given: argparse.Namespace) -> None:
    """MinHash end to end, ours and the peers', and the recall of each."""
    read, wanted = load(given.file).texts, given.records or 1_000_000
    many = [
        f"{text} {number}" if number else text
        for number in range(-(-wanted // len(read)))
        for text in read
    ]
    many, rung = many[:wanted], MinHash(THRESHOLD, Shingling(given.unit, given.size), recall=RECALL)
    shingle = _shingling(given.unit, given.size)
    ours, _ = timed(f"minhash, {len(many):,} texts", lambda: rung(of_texts(many)))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB until here")
    true = _true(many[:SAMPLE], given)
    _recall("minhash", codes(rung(of_texts(many[:SAMPLE]))), true)
    for name, peer, share in (
        ("rensa", _rensa, 1),
        ("rensa in bulk", _bulk, 1),
        ("datasketch", _datasketch, TENTH),
    ):
        if installed(name.split()[0]):
            some = many[: len(many) // share]
            theirs, _ = timed(
                f"{name}, {len(some):,} texts", lambda peer=peer, some=some: peer(some, shingle)
            )
            seconds, cpu = (their * share / our for their, our in zip(theirs, ours, strict=True))
            print(f"{name} takes {cpu:.1f} x the CPU seconds, {seconds:.1f} x the seconds")
            _recall(name, peer(many[:SAMPLE], shingle), true)


def simhash(given: argparse.Namespace) -> None:
    """10,000 hashes against many: building, looking up, memory; then 25 million records with two fields."""
    random, count = np.random.default_rng(0), given.records or 15_000_000
    for bits, kind in ((64, np.uint64), (32, np.uint32)):
        stored = random.integers(1, (1 << bits) - 1, count, dtype=kind)
        begun = time.perf_counter()
        tables = Tables(stored, Parts(bits))
        built = time.perf_counter() - begun
        asked = stored[random.integers(0, count, ASKED)] ^ kind(1 << 5)
        begun, found, met = time.perf_counter(), list[Indices](), 0
        for pairs in tables.meeting(asked):
            apart = np.bitwise_count(asked[pairs >> 32] ^ stored[pairs & 0xFFFFFFFF])
            found.append(pairs[apart <= bits // 8])
            met += len(pairs)
        near = np.unique(np.concatenate(found))
        looked, size = time.perf_counter() - begun, (tables.bytes() + stored.nbytes) / 1e9
        taken = f"built in {built:.1f} s, {met:,} met, {len(near):,} near in {looked:.2f} s"
        print(f"{bits} bits, {count:,}: {taken}, {size:.2f} GB", flush=True)
        _by_force(asked, stored, near, looked)
        del tables
    fields = [random.integers(1, (1 << 32) - 1, 25_000_000, dtype=np.uint32) for _ in range(2)]
    hashes = sum(column.nbytes for column in fields)
    whole = hashes + Tables(fields[0], Parts(32)).bytes()
    print(
        f"25 M records, two fields of 32 bits: hashes {hashes / 1e6:.0f} MB, with tables {whole / 1e9:.2f} GB",
        flush=True,
    )


def _by_force(asked: Hashes, stored: Hashes, near: Indices, looked: float) -> None:
    """Brute force on the first few that were asked: what all would take, and whether it finds the same pairs."""
    parts, begun, found = Parts(asked.dtype.itemsize * 8), time.perf_counter(), list[Indices]()
    for number, one in enumerate(asked[:BY_FORCE]):
        close = np.flatnonzero(np.bitwise_count(one ^ stored) <= parts.bits // 8)
        found.append(number << 32 | close[parts.agree(one, stored[close])])
    seconds = (time.perf_counter() - begun) * ASKED / BY_FORCE
    mine, theirs = near[near < BY_FORCE << 32], np.concatenate(found)
    same = len(np.intersect1d(mine, theirs))
    print(f"brute force would take {seconds:.0f} s, {seconds / looked:.0f} x; {same:,} pairs are the same, "
          f"{len(mine) - same} only ours, {len(theirs) - same} only brute force's", flush=True)  # fmt: skip


def texts(given: argparse.Namespace) -> None:
    """10,000 made-up records of two fields, words in another order, against many: from texts to decided pairs."""
    random, count = np.random.default_rng(0), given.records or 15_000_000
    words = [f"{chr(97 + n % 26)}{n:x}" for n in range(50_000)]
    titles, authors = (
        [" ".join([words[at] for at in row]) for row in _drawn(random, count, size)]
        for size in (8, 3)
    )
    stored, some = of_fields(titles, authors), random.integers(0, count, ASKED).tolist()
    asked = of_fields(
        *([" ".join(column[at].split()[::-1]) for at in some] for column in (titles, authors))
    )
    for bits in (64, 32):
        rung, times = SimHash(exactly(0.8), Parts(bits)), [time.perf_counter()]
        index = SimHashIndex(
            stored, rung, lambda *_, times=times: times.append(time.perf_counter())
        )
        hashing, built, begun = (
            times[-1] - times[0],
            time.perf_counter() - times[-1],
            time.perf_counter(),
        )
        found = index.look_up(asked, [hashed(column, bits) for column in asked.fields])
        looked, size = time.perf_counter() - begun, index.bytes() / 1e9
        hit = len(np.intersect1d(found.right, np.unique(some)))
        print(f"{bits} bits: texts hashed in {hashing:.1f} s, tables built in {built:.1f} s, "
              f"{ASKED:,} records asked in {looked:.2f} s, {hit:,} of {len(set(some)):,} found, {size:.2f} GB",
              flush=True)  # fmt: skip


def _drawn(random: np.random.Generator, count: int, size: int) -> Iterable[list[int]]:
    for start in range(0, count, 100_000):
        yield from random.integers(0, 50_000, (min(100_000, count - start), size)).tolist()


def _shingling(unit: str, size: int) -> Shingle:
    def cut(text: str) -> list[str]:
        items: Any = text.casefold().split() if unit == "words" else text.casefold()
        return (
            [" ".join(items[at : at + size]) for at in range(max(1, len(items) - size + 1))]
            if items
            else [text]
        )

    return cut


def _true(sample: list[str], given: argparse.Namespace) -> Indices:
    """The pairs of the exact join, on shingles as words."""
    cut = _shingling(given.unit, given.size)
    numbers: dict[str, int] = {}
    as_words = [
        " ".join(str(numbers.setdefault(one, len(numbers))) for one in cut(text)) for text in sample
    ]
    return codes(PrefixFilter(THRESHOLD, "jaccard")(of_texts(as_words)))


def _recall(name: str, found: Indices, true: Indices) -> None:
    print(
        f"{name}: recall {len(np.intersect1d(found, true)) / max(1, len(true)):.4f} of {len(true):,} true pairs"
    )


def _rensa(some: list[str], shingle: Shingle) -> Indices:
    from rensa import RMinHash, RMinHashLSH

    index, made = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16), []
    for number, text in enumerate(some):
        one = RMinHash(num_perm=128, seed=1)
        one.update(shingle(text))
        index.insert(number, one)
        made.append(one)
    return _enough(made, (index.query(one) for one in made))


def _bulk(some: list[str], shingle: Shingle) -> Indices:
    from rensa import RMinHash, RMinHashLSH

    made, index = (
        RMinHash.from_token_sets([shingle(text) for text in some], 128, 1),
        RMinHashLSH(0.8, 128, 16),
    )
    index.insert_many(made)
    return _enough(made, index.query_all(made))


def _datasketch(some: list[str], shingle: Shingle) -> Indices:
    from datasketch import MinHash as Theirs
    from datasketch import MinHashLSH

    index, made = MinHashLSH(threshold=0.8, num_perm=128, params=(16, 8)), []
    for number, text in enumerate(some):
        one: Any = Theirs(num_perm=128)
        one.update_batch([part.encode() for part in shingle(text)])
        index.insert(number, one, check_duplication=False)
        made.append(one)
    return _enough(made, (index.query(one) for one in made))


def _enough(made: list[Any], near: Iterable[Iterable[int]]) -> Indices:
    met = (
        (number, other) for number, others in enumerate(near) for other in others if other > number
    )
    found = [a << 32 | b for a, b in met if made[a].jaccard(made[b]) >= 0.8]
    return np.sort(np.array(found, dtype=np.int64))


if __name__ == "__main__":
    main()
