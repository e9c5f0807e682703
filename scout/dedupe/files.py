"""The files that `scout dedupe` writes: pairs, clusters, merged records. A file appears when it is whole.

Titles come from strangers: in CSV no text can become a formula of a spreadsheet.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

from catalog.errors import ScoutError, UsageError
from catalog.feeds.rows import Row
from matcher.dedupe.base.records import rows
from matcher.dedupe.cluster.merge import Merged, merge
from reports.write import cell_escaping
from scout.dedupe.dedupe_run import Duplicates


def write_pairs(found: Duplicates, path: Path) -> None:
    """A line a pair: where both records stand, how alike they are and why, and their keys."""
    shift = len(found.left) if found.right is not None else 0
    columns = (found.pairs.left, found.pairs.right, found.pairs.similarity, found.pairs.why)
    with _whole(path) as file:
        table = _table(file, ("left", "right", "similarity", "reason", "left_text", "right_text"))
        for a, b, similarity, why in zip(*(column.tolist() for column in columns), strict=True):
            other = b + shift
            lines = found.place(a)[1], found.place(other)[1]
            texts = found.text(a), found.text(other)
            table.writerow(
                cell_escaping.row((*lines, round(similarity, 6), found.pairs.reasons[why], *texts))
            )


def write_clusters(found: Duplicates, path: Path) -> None:
    """A line a record that is in a cluster, cluster after cluster."""
    with _whole(path) as file:
        table = _table(file, ("cluster", "file", "line", "text"))
        for number, members in enumerate(found.clusters, 1):
            for row in members:
                where, line = found.place(row)
                table.writerow(cell_escaping.row((number, where.name, line, found.text(row))))


def write_merged(found: Duplicates, path: Path) -> None:
    """The records, those of a cluster as one, with the source of each of its values; CSV, or JSON Lines by the name."""
    with _whole(path) as file:
        write = (
            _json_lines(file)
            if path.suffix.lower() in (".jsonl", ".ndjson", ".json")
            else _csv_lines(file, found)
        )
        for merged, places in _merged(found):
            sources = {
                name: [places[at] for at in held]
                for name, held in merged.sources.items()
                if len(places) > 1
            }
            write(merged.texts, places, sources)


Write = Callable[[Mapping[str, list[str]], list[str], Mapping[str, list[str]]], None]


def _json_lines(file: IO[str]) -> Write:
    def write(
        texts: Mapping[str, list[str]], places: list[str], sources: Mapping[str, list[str]]
    ) -> None:
        values = {name: held[0] if len(held) == 1 else held for name, held in texts.items() if held}
        file.write(
            json.dumps(
                {"values": values, "records": places, "sources": sources}, ensure_ascii=False
            )
            + "\n"
        )

    return write


def _csv_lines(file: IO[str], found: Duplicates) -> Write:
    names = dict.fromkeys(
        chain.from_iterable(row.texts for path in _paths(found) for row in _read(path))
    )
    table = _table(file, (*names, "records", "sources"))

    def write(
        texts: Mapping[str, list[str]], places: list[str], sources: Mapping[str, list[str]]
    ) -> None:
        values = [" | ".join(texts.get(name, ())) for name in names]
        table.writerow(
            cell_escaping.row((*values, " ".join(places), json.dumps(sources) if sources else ""))
        )

    return write


def _paths(found: Duplicates) -> list[Path]:
    return [path for path in (found.asked.file, found.asked.right) if path is not None]


def _read(path: Path) -> Iterator[Row]:
    return (row for row in rows(path) if isinstance(row, Row))


def _table(file: IO[str], columns: Sequence[str]) -> Any:
    table = csv.writer(file, lineterminator="\n")
    table.writerow(cell_escaping.row(columns))
    return table


def write_named(pairs: Iterator[tuple[str, str, float, str]], path: Path | None) -> int:
    """A line a pair, as it is found: what two records are called, how alike they are and why; their number."""
    if path is None:
        return sum(1 for _ in pairs)
    count = 0
    with _whole(path) as file:
        table = _table(file, ("left", "right", "similarity", "reason"))
        for first, name, similarity, reason in pairs:
            table.writerow(cell_escaping.row((first, name, round(similarity, 6), reason)))
            count += 1
    return count


@contextmanager
def _whole(path: Path) -> Iterator[IO[str]]:
    """A file to write to, which takes its name when the block has ended well. Raises ScoutError."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        part.replace(path)
    except OSError as error:
        raise ScoutError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _merged(found: Duplicates) -> Iterator[tuple[Merged, list[str]]]:
    """Records of no cluster as they come, then the clusters, whose rows alone are held."""
    age, known = found.asked.age, found.asked.age is None
    cluster_of = {
        found.place(row): number for number, rows_ in enumerate(found.clusters) for row in rows_
    }
    held: list[list[tuple[Row, str]]] = [[] for _ in found.clusters]
    for path in _paths(found):
        for row in _read(path):
            place, known = f"{path.name}:{row.line}", known or age in row.texts
            number = cluster_of.get((path, row.line))
            if number is None:
                yield merge([row]), [place]
            else:
                held[number].append((row, place))
    if not known:
        raise UsageError(f"--age {age}: no record has such a column")
    for members in held:
        members.sort(key=lambda member: _age(member[0], age))
        yield merge([row for row, _ in members]), [place for _, place in members]


def _age(row: Row, column: str | None) -> tuple[int, float, str]:
    """What puts the oldest record first: dates as they are written in ISO 8601, or numbers; without either, last.

    >>> _age(Row(1, {"added": ["2021-05-01"]}), "added") < _age(Row(2, {"added": ["2022-01-01"]}), "added")
    True
    """
    texts = row.texts.get(column or "")
    if not texts:
        return 2, 0.0, ""
    try:
        return 0, float(texts[0]), ""
    except ValueError:
        return 1, 0.0, texts[0]
