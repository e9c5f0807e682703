"""Findings: the rows that `scout offers` prints, each with verdict, cause and evidence."""

from collections.abc import Collection

from catalog.models import Shop, Verdict
from catalog.store import Store
from reports.reading import Finding as Finding
from reports.story import gather


def rows(store: Store, shop: Shop, run_id: int, verdicts: Collection[Verdict] | None = None) -> list[Finding]:
    """The findings of a run, the most valuable first: those of the given verdicts, or all.

    A person's word is followed: a rejected finding is listed, an accepted one missing. Ignored ones are left out where
    verdicts are asked for. Raises UsageError where the shop has no such run.
    """
    wanted = set(verdicts) if verdicts is not None else set(Verdict)
    found = gather(store, shop, run_id, keep=wanted).findings
    return [one for one in found if one.verdict in wanted and not (one.ignored and verdicts is not None)]
