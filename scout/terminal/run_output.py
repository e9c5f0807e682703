"""What a run found, on the terminal: totals, what is missing by category, price and cause, and where the report is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scout.pipeline.summary import RunSummary
from scout.terminal.output import cell, say, short, table

if TYPE_CHECKING:
    from reports.model.report_model import Story
    from reports.statistics.findings_reader import Finding
    from reports.statistics.statistics import Completeness, Group, Tally

ROWS = 10


def tell(done: RunSummary, story: "Story") -> None:
    """Print the findings of a run, as `reports.model.report_model.gather` gives them."""
    from catalog.models import Verdict

    _totals(done, story.completeness)
    if story.untaught:
        say(
            "The catalog knows no offer of this shop: its pages were read by general rules, less surely than usual."
        )
    _by_category(story.completeness)
    _by_price(story.completeness)
    _by_cause(story)
    _dearest(story.of(Verdict.MISSING))
    _rules(done)
    _places(done)


def _totals(done: RunSummary, found: "Completeness") -> None:
    total, seen = found.total, found.coverage
    say(
        "",
        f"{cell(done.shop)}: {total.seen} offers on {seen.fetched} pages fetched of {seen.pages} known.",
    )
    say(
        f"The catalog lists {total.listed} and lacks {total.missing} ({total.share:.0%}); {total.unsure} are unsure."
    )
    if not seen.complete:
        unread = f"; sitemaps not read: {seen.sitemaps_unread}" if seen.sitemaps_unread else ""
        say(
            f"The crawl is not complete: {seen.waiting} pages are waiting, {seen.failed} failed{unread}."
        )


def _by_category(found: "Completeness") -> None:
    from reports.statistics.statistics import rolled_up

    groups = rolled_up(found.by_category, found.currency)
    _missing("category", [(short(one.name) or "(none)", one) for one in groups])


def _by_price(found: "Completeness") -> None:
    _missing(
        "price",
        [(_band(one, found.currency), one) for one in found.by_band],
        f" ({cell(found.currency)} only)" if found.elsewhere else "",
    )


def _missing(what: str, groups: "Sequence[tuple[str, Group]]", remark: str = "") -> None:
    rows = [
        (name, one.tally.missing, one.tally.seen, f"{one.tally.share:.0%}", _worth(one.tally))
        for name, one in groups
        if one.tally.missing
    ]
    if not rows:
        return
    say("")
    table((what, "missing", "of", "share", "worth"), rows[:ROWS], f"Missing by {what}{remark}")
    if len(rows) > ROWS:
        say(f"... and {len(rows) - ROWS} more: see the report")


def _worth(tally: "Tally") -> str:
    return ", ".join(
        f"{value:,} {currency}".strip() for currency, value in sorted(tally.value.items())
    )


def _band(one: "Group", currency: str | None) -> str:
    low, high = (one.band.low, one.band.high) if one.band else (None, None)
    if low is None:
        return "any" if high is None else f"below {high} {currency or ''}"
    return f"{low} {currency or ''} and more" if high is None else f"{low} to {high}"


def _by_cause(story: "Story") -> None:
    if story.causes:
        say("")
        table(
            ("cause", "offers"),
            [(one.kind.value, one.offers) for one in story.causes],
            "Missing by cause",
        )


def _dearest(missing: "Sequence[Finding]") -> None:
    if not missing:
        return
    say("")
    rows = [(one.price, one.currency, short(one.title, 50), one.url) for one in missing[:ROWS]]
    table(
        ("price", "", "title", "url"),
        rows,
        f"{len(rows)} of {len(missing)} missing offers, by value",
    )


def _rules(done: RunSummary) -> None:
    """What had become of earlier rules; nothing where there were none."""
    if done.drift:
        stay = f"; {done.kept} locked or set by hand stay" if done.kept else ""
        say(
            "",
            f"Rules: {cell(done.drift)}.",
            f"They were learnt anew as version {done.rules}{stay}.",
        )


def _places(done: RunSummary) -> None:
    say("")
    for kind, path in done.reports.items():
        say(f"{kind}: {Path(path).resolve()}")
