"""The ladder against its peers, in one run, on the same records: seconds, pairs, and how many times faster.

    python benchmarks/joins.py segments FILE.txt.xz [--share 0.1]     exact edit join; rapidfuzz in length windows
    python benchmarks/joins.py levels FILE.txt.xz [--levels 1,4,10]   the prefix filter, level count by level count
    python benchmarks/joins.py minhash FILE.txt.xz [--records N]      rensa and datasketch, where they are installed
    python benchmarks/joins.py exact FILE.txt.xz                      DuckDB, where it is installed
    python benchmarks/joins.py simhash [--records 15000000]           10,000 hashes against many

`--share` measures the slow peer on a random share of its blocks and scales up. CPU seconds count all processes.
"""

import argparse
import importlib.util
import os
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from matcher.ladder.exact import Exact
from matcher.ladder.minhash import MinHash
from matcher.ladder.prefix_filter import PrefixFilter
from matcher.ladder.records import Records, load, of_texts
from matcher.ladder.rung import exactly
from matcher.ladder.segments import Segments
from matcher.ladder.shingles import Shingling
from matcher.ladder.simhash_tables import Parts, Tables
from matcher.ladder.verify import allowed

THRESHOLD = exactly(0.8)
BLOCK = 500


def main() -> None:
    """Carry out the benchmark that is named."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["segments", "levels", "minhash", "exact", "simhash"])
    words.add_argument("file", nargs="?", type=Path)
    words.add_argument("--share", type=float, default=1.0)
    words.add_argument("--levels", default="1,2,4,6,8,10")
    words.add_argument("--records", type=int)
    words.add_argument("--unit", choices=["words", "characters"], default="words")
    words.add_argument("--size", type=int, default=1)
    given = words.parse_args()
    {"segments": segments, "levels": levels, "minhash": minhash, "exact": exact, "simhash": simhash}[given.what](given)


def segments(given: argparse.Namespace) -> None:
    """Segments, and rapidfuzz's cdist on all texts of like length."""
    records = _records(given)
    ours = timed("segments", lambda: len(Segments(THRESHOLD)(records)))
    peer = timed(f"cdist in length windows, 2 workers, share {given.share:g}", lambda: _windows(records, given.share))
    print(
        f"ratio {peer[0] / given.share / ours[0]:.1f} in seconds, {peer[1] / given.share / ours[1]:.1f} in CPU seconds"
    )


def levels(given: argparse.Namespace) -> None:
    """The prefix filter at several numbers of levels: computations and seconds saved against the first of them."""
    records, base = _records(given), (0.0, 0)
    for count in map(int, given.levels.split(",")):
        begun, before = time.perf_counter(), os.times()
        found = PrefixFilter(THRESHOLD, levels=count)(records)
        seconds, cpu = time.perf_counter() - begun, sum(os.times()[:4]) - sum(before[:4])
        base = base if base[1] else (cpu, found.comparisons)
        saved = f"{1 - found.comparisons / base[1]:.1%} fewer computations, {1 - cpu / base[0]:.1%} less CPU time"
        taken = f"{seconds:8.1f} s {cpu:8.1f} CPU s {found.comparisons:15,} computations"
        print(f"{count:3} levels {taken} {len(found):,} pairs: {saved}", flush=True)


def minhash(given: argparse.Namespace) -> None:
    """MinHash of 128 permutations, 16 bands of 8, end to end: texts in, pairs out."""
    records = _records(given)
    shingling = Shingling(given.unit, given.size)
    ours = timed("minhash", lambda: len(MinHash(THRESHOLD, shingling, recall=0.94)(records)))
    for name, peer in (("rensa", _rensa), ("datasketch", _datasketch)):
        if importlib.util.find_spec(name):
            theirs = timed(name, lambda peer=peer: peer(records.texts, given))
            print(f"ratio {theirs[1] / ours[1]:.1f} in CPU seconds")


def exact(given: argparse.Namespace) -> None:
    """Equal records after normalising, and DuckDB's join of the texts as they are."""
    records = _records(given)
    ours = timed("exact", lambda: len(Exact()(records)))
    if importlib.util.find_spec("duckdb"):
        theirs = timed("duckdb join", lambda: _duckdb(records.texts))
        print(f"ratio {theirs[0] / ours[0]:.2f} in seconds")


def simhash(given: argparse.Namespace) -> None:
    """10,000 hashes, an eighth of whose bits may differ, against many: building, looking up, memory."""
    random, count = np.random.default_rng(0), given.records or 15_000_000
    for bits, kind in ((64, np.uint64), (32, np.uint32)):
        stored = random.integers(1, (1 << bits) - 1, count, dtype=kind)
        begun = time.perf_counter()
        tables = Tables(stored, Parts(bits))
        built = time.perf_counter() - begun
        asked = stored[random.integers(0, count, 10_000)] ^ kind(1 << 5)
        begun, met, near = time.perf_counter(), 0, 0
        for codes in tables.meeting(asked):
            apart = np.bitwise_count(asked[codes >> 32] ^ stored[codes & 0xFFFFFFFF])
            met, near = met + len(codes), near + int((apart <= bits // 8).sum())
        looked = time.perf_counter() - begun
        size = (tables.bytes() + stored.nbytes) / 1e9
        print(f"{bits} bits: built in {built:.1f} s, {met:,} met and {near:,} near in {looked:.2f} s, {size:.2f} GB")


def timed(name: str, work: Callable[[], int]) -> tuple[float, float]:
    """Carry out some work; prints and gives its seconds and CPU seconds."""
    begun, before = time.perf_counter(), os.times()
    pairs = work()
    seconds, after = time.perf_counter() - begun, os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    print(f"{name:55} {seconds:8.2f} s {cpu:8.2f} CPU s {pairs:12,} pairs", flush=True)
    return seconds, cpu


def _records(given: argparse.Namespace) -> Records:
    records = load(given.file)
    if given.records is None:
        return records
    rounds = -(-given.records // len(records))
    texts = [f"{text} {number}" if number else text for number in range(rounds) for text in records.texts]
    return of_texts(texts[: given.records])


def _windows(records: Records, share: float) -> int:
    texts = sorted(records.texts, key=len)
    lengths = [len(text) for text in texts]
    random, pairs = np.random.default_rng(0), 0
    for start, stop in pairwise([*range(0, len(texts), BLOCK), len(texts)]):
        if random.random() >= share:
            continue
        last = max(length for length in set(lengths) if length - allowed(length, THRESHOLD) <= lengths[stop - 1])
        end = int(np.searchsorted(lengths, last, side="right"))
        most = allowed(last, THRESHOLD)
        found = cdist(texts[start:stop], texts[start:end], scorer=Levenshtein.distance, score_cutoff=most,
                      dtype=np.uint8, workers=2)  # fmt: skip
        longer = np.array([allowed(length, THRESHOLD) for length in lengths[start:end]], dtype=np.uint8)
        later = np.arange(end - start)[None, :] > np.arange(stop - start)[:, None]
        pairs += int(((found <= longer[None, :]) & later).sum())
    return pairs


def _shingles(text: str, given: argparse.Namespace) -> list[str]:
    items: Sequence[str] = text.casefold().split() if given.unit == "words" else text.casefold()
    return ["".join(items[at : at + given.size]) for at in range(max(1, len(items) - given.size + 1))]


def _rensa(texts: list[str], given: argparse.Namespace) -> int:
    from rensa import RMinHash, RMinHashLSH

    index, made = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16), []
    for number, text in enumerate(texts):
        one = RMinHash(num_perm=128, seed=1)
        one.update(_shingles(text, given))
        index.insert(number, one)
        made.append(one)
    near = ((number, other) for number, one in enumerate(made) for other in index.query(one) if other > number)
    return sum(made[a].jaccard(made[b]) >= 0.8 for a, b in near)


def _datasketch(texts: list[str], given: argparse.Namespace) -> int:
    from datasketch import MinHash as Theirs
    from datasketch import MinHashLSH

    index, made = MinHashLSH(threshold=0.8, num_perm=128, params=(16, 8)), []
    for number, text in enumerate(texts):
        one: Any = Theirs(num_perm=128)
        one.update_batch([shingle.encode() for shingle in _shingles(text, given)])
        index.insert(number, one, check_duplication=False)
        made.append(one)
    near = ((number, other) for number, one in enumerate(made) for other in index.query(one) if other > number)
    return sum(made[a].jaccard(made[b]) >= 0.8 for a, b in near)


def _duckdb(texts: list[str]) -> int:
    import duckdb

    with duckdb.connect() as base:
        base.register("given", {"text": np.array(texts, dtype=object), "number": np.arange(len(texts))})
        base.execute("CREATE TABLE texts AS SELECT * FROM given")
        joined = "SELECT count(*) FROM texts a JOIN texts b ON a.text = b.text AND a.number < b.number"
        return int(base.execute(joined).fetchone()[0])


if __name__ == "__main__":
    main()
