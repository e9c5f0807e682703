"""The doctor: checks of an installation and its store, one after another."""

from collections.abc import Callable, Iterator

from catalog.runtime.settings import Settings
from scout.doctor.check_result import CheckResult
from scout.doctor.installation import (
    check_browser,
    check_java,
    check_package_names,
    check_python,
    check_versions,
)
from scout.doctor.machine import (
    check_data_folder,
    check_temporary_folder,
    check_time_zone,
    check_variables,
)
from scout.doctor.store_checks import check_bodies, check_database, check_runs

CHECKS: tuple[Callable[[Settings], Iterator[CheckResult]], ...] = (
    check_python,
    check_package_names,
    check_versions,
    check_browser,
    check_java,
    check_variables,
    check_data_folder,
    check_temporary_folder,
    check_time_zone,
    check_database,
    check_bodies,
    check_runs,
)
"""All checks in the order in which they are shown."""


def run_checks(settings: Settings) -> list[CheckResult]:
    """Run all checks in order."""
    return [result for check in CHECKS for result in check(settings)]
