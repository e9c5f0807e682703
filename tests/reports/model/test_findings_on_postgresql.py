"""Stored findings on PostgreSQL: the same filters, orders, pages and counts as on SQLite."""

from tests.catalog.storage.test_postgresql import server, settings, store
from tests.reports.model.test_finding_storage import (
    test_a_decision_counts_at_once,
    test_a_writer_that_ends_halfway_changes_nothing,
    test_counts,
    test_filters,
    test_history_of_an_offer,
    test_matches_written_later_are_stored_when_shown,
    test_sorting_and_pages,
    test_storing_again_changes_nothing,
    two_currencies,
)

__all__ = [
    "server",
    "settings",
    "store",
    "test_a_decision_counts_at_once",
    "test_a_writer_that_ends_halfway_changes_nothing",
    "test_counts",
    "test_filters",
    "test_history_of_an_offer",
    "test_matches_written_later_are_stored_when_shown",
    "test_sorting_and_pages",
    "test_storing_again_changes_nothing",
    "two_currencies",
]
