"""Output of `scout dedupe`: figures, files, and the additions of a taught run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scout.commands.context import get_invocation
from scout.terminal.output import plural, print_json, print_lines, print_note, print_table

if TYPE_CHECKING:
    from catalog.runtime.progress import Progress
    from catalog.runtime.spark.session import SparkJobs
    from scout.dedupe.dedupe_run import DedupeRun
    from scout.dedupe.taught.taught_run import TaughtRequest, TaughtRun


@dataclass(frozen=True)
class OutputPaths:
    """The files that a run writes; None for those not asked for."""

    pairs: Path | None = None
    clusters: Path | None = None
    merged: Path | None = None

    def write(self, run: "DedupeRun") -> None:
        """Write the files of a run. Raises ScoutError."""
        from scout.dedupe import output_files

        if self.pairs is not None:
            output_files.write_pairs(run, self.pairs)
        if self.clusters is not None:
            output_files.write_clusters(run, self.clusters)
        if self.merged is not None:
            output_files.write_merged(run, self.merged)


def run_and_print(
    context: typer.Context,
    request: "TaughtRequest",
    outputs: OutputPaths,
    explained: tuple[str, ...],
    charts: Path | None,
    as_json: bool,
    jobs: "SparkJobs | None",
) -> None:
    """Run a taught deduplication, on Spark with `jobs`; write its files and print its figures."""
    from scout.dedupe.taught.explanations import explain_pairs_by_name
    from scout.dedupe.taught.taught_run import run_taught

    explanations = list[dict[str, Any]]()

    def write_more(run: "TaughtRun") -> None:
        explanations.extend(explain_pairs_by_name(run, explained))
        if charts is not None:
            from scout.dedupe.taught.charts.chart_page import write_charts

            write_charts(run, charts)

    run: TaughtRun
    with get_invocation(context).progress() as progress:
        if request.index is None:
            run = run_taught(request, progress, jobs)
            outputs.write(run)
            write_more(run)
        else:
            run = _run_on_index(request, outputs, progress, write_more)
    figures = run.figures()
    if as_json:
        if explanations:
            figures["explanations"] = explanations
        print_json(figures)
        return
    print_figures(figures, as_json=False)
    if "index" in figures:
        _print_changes(figures["records"], figures["index"])
    _print_taught(run, figures["taught"])
    for explanation in explanations:
        _print_explanation(explanation)


def _run_on_index(
    request: "TaughtRequest",
    outputs: OutputPaths,
    progress: "Progress",
    write_more: Callable[["TaughtRun"], None],
) -> "TaughtRun":
    """Run on an index, and write the pairs of new records, the groups, and what else is to write."""
    from catalog.errors import UsageError
    from scout.dedupe import output_files
    from scout.dedupe.taught.taught_index import IndexRun, run_on_index

    if outputs.merged is not None:
        raise UsageError("--merged: needs the whole rows, which an index does not hold")

    def write(run: IndexRun) -> None:
        write_more(run)
        if outputs.pairs is not None:
            output_files.write_named_pairs(run.new_pairs(), outputs.pairs, run.has_ids)
        if outputs.clusters is not None:
            output_files.write_clusters(run, outputs.clusters)

    return run_on_index(request, progress, write)


def print_figures(figures: dict[str, Any], as_json: bool) -> None:
    """Print the figures of any run as tables, or as JSON."""
    if as_json:
        print_json(figures)
        return
    columns = ("records", "candidates", "comparisons", "pairs", "clusters", "seconds")
    print_table(columns, [[figures[name] for name in columns]])
    levels = figures["levels"]
    if levels:
        print_lines("")
        print_table(tuple(levels[0]), [tuple(level.values()) for level in levels])
    if figures["left_out"] or figures["bad"]:
        print_lines(
            "",
            f"{figures['left_out']} records without a key were left out, "
            f"{figures['bad']} could not be read",
        )
    print_unreadable(figures["reasons"], figures["bad"])
    for note in figures["notes"]:
        print_note(note)


def print_unreadable(reasons: Sequence[str], count: int) -> None:
    """Print why the first of some rows could not be read, and how many more there are."""
    for reason in reasons:
        print_note(reason)
    if count > len(reasons):
        print_note(f"and {count - len(reasons)} further rows")


def _print_changes(size: int, changes: dict[str, int]) -> None:
    """Print what a call changed in an index."""
    print_lines(
        "",
        f"The index has {plural(size, 'record')}: {changes['new']} new, {changes['changed']} changed, "
        f"{changes['unchanged']} as before; {changes['dropped']} dropped.",
    )
    if changes["unknown"]:
        print_note(f"{plural(changes['unknown'], 'id')} to drop: no such record in the index")


def _print_taught(run: "TaughtRun", taught: dict[str, Any]) -> None:
    """Print how the pairs were decided, and the weight of each column."""
    from scout.dedupe.taught.explanations import column_weights

    made_by = taught["taught_by"]
    if made_by == "labels":
        made_by = f"{plural(taught['labels'], 'label')}, {taught['duplicates']} of them duplicates"
    print_lines("", f"Decided by {made_by}; a pair counts from probability {taught['threshold']}.")
    print_lines(f"A record has {taught['partners']}.")
    if taught["variant_pairs"]:
        rules = ", ".join(taught["variants"])
        print_lines(f"{plural(taught['variant_pairs'], 'pair')} kept apart as variants ({rules}).")
    if taught["equal_apart"]:
        left, right = taught["equal_apart_first"]
        print_note(
            f"{plural(taught['equal_apart'], 'pair')} of equal records kept apart, {left} and {right} "
            "first: the columns do not tell records apart, and labels would; --method exact without "
            "--decide taught pairs equal records"
        )
    if taught["unknown_labels"]:
        print_note(f"{plural(taught['unknown_labels'], 'label')} left out: no such record")
    if taught["labels_with_itself"]:
        count = plural(taught["labels_with_itself"], "label")
        print_note(f"{count} left out: of a record with itself")
    if taught["unreadable_labels"]:
        count = plural(len(taught["unreadable_labels"]), "label")
        print_note(f"{count} could not be read: {taught['unreadable_labels'][0]}")
    if taught["relabelled"]:
        count = plural(taught["relabelled"], "label")
        print_note(f"{count} replaced by another one of the same pair further below")
    if taught["contradictory_labels"]:
        left, right = taught["contradictory_labels"][0]
        count = plural(len(taught["contradictory_labels"]), "pair")
        print_note(
            f"{count} labelled as distinct, although labels of other pairs make them duplicates: "
            f"{left} and {right} first"
        )
    print_lines("")
    rows = [
        (name, taught["kinds"].get(name, ""), round(support, 2), round(against, 2))
        for name, support, against in column_weights(run)
    ]
    print_table(("column", "kind", "weight for", "weight against"), rows)


def _print_explanation(explanation: dict[str, Any]) -> None:
    """Print a waterfall: the base, the share of each column, and the probability."""
    pair = f"{explanation['left']} and {explanation['right']}"
    if explanation["probability"] is None:
        print_lines("", f"{pair}: never compared, as no method made them a candidate.")
        return
    title = (
        f"{pair}: probability {explanation['probability']} (a pair from {explanation['threshold']})"
    )
    print_lines("", title)
    if explanation["variant"]:
        print_lines(f"Kept apart as variants by the rule {explanation['variant']!r}.")
    elif explanation["groups_decide"] and explanation["same_group"]:
        print_lines("A pair all the same: on average the pairs of its group say so.")
    elif explanation["groups_decide"]:
        print_lines("No pair all the same: on average the pairs of the two groups are none.")
    rows: list[tuple[object, ...]] = [("base", None, explanation["base"], "", "")]
    for step in explanation["steps"]:
        rows.append((step["column"], step["weight"], step["total"], step["left"], step["right"]))
    print_table(("column", "log-odds", "total", "left", "right"), rows)
