"""Findings: the rows that `scout offers` prints, each with verdict, cause and evidence."""

from collections.abc import Collection, Sequence

from sqlmodel import select

from catalog.models import Match, Shop, Verdict
from catalog.storage.store import Store
from reports.model.report_model import gather
from reports.statistics.findings_reader import Finding as Finding
from reports.statistics.findings_reader import text


def rows(
    store: Store, shop: Shop, run_id: int, verdicts: Collection[Verdict] | None = None
) -> list[Finding]:
    """The findings of a run, the most valuable first: those of the given verdicts, or all.

    A person's word is followed: a rejected finding is listed, an accepted one missing. Ignored ones are left out where
    verdicts are asked for. Raises UsageError where the shop has no such run.
    """
    wanted = set(verdicts) if verdicts is not None else set(Verdict)
    found = gather(store, shop, run_id, keep=wanted).findings
    asked = [
        one for one in found if one.verdict in wanted and not (one.ignored and verdicts is not None)
    ]
    _tell_why(store, run_id, asked)
    return asked


def _tell_why(store: Store, run_id: int, found: Sequence[Finding]) -> None:
    """Put to each finding what spoke for it and against it, which is too long to be read for every report."""
    by_url = {one.url: one for one in found}
    with store.read() as session:
        for url, why in session.exec(select(Match.url, Match.why).where(Match.run_id == run_id)):
            if why and (one := by_url.get(text(url, 2000) or "")):
                seen = [
                    {**near, **{name: text(near.get(name)) for name in ("title", "url")}}
                    for near in why["candidates"]
                ]
                one.why = {**why, "candidates": seen}
