"""Completeness: how much of a shop the catalog lists - the figures of a run, as one value.

`scout run --json` and the web pages take it from here; how it is counted stands in `reports.statistics.statistics`.
"""

from catalog.models import Shop
from catalog.storage.store import Store
from reports.model.report_model import gather
from reports.statistics.statistics import Completeness as Completeness
from reports.statistics.statistics import wilson as wilson


def completeness(store: Store, shop: Shop, run_id: int) -> Completeness:
    """Totals, by category, price band and brand, and the coverage. Raises UsageError where the shop has no such run."""
    return gather(store, shop, run_id, keep=()).completeness
