"""The doctor: checks of an installation and its store, one after another.

Scout's packages are top-level packages with general names. Another distribution, or a folder that
merely lies on the import path, may own `crawler` or `parser` too; whichever comes first is
imported, without any warning.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal
from uuid import uuid4

from packaging.requirements import Requirement
from sqlmodel import select

from catalog.errors import ScoutError
from catalog.models import Run, RunState, Shop
from catalog.runtime.settings import Settings
from catalog.storage.bodies import BodyStore
from catalog.storage.leases import lease_table
from catalog.storage.leases.fence import describe_holder
from catalog.storage.store import Store, newest_revision
from scout.pipeline import locks

DISTRIBUTION = "scout-offer-gaps"

PACKAGES = (
    "catalog",
    "crawler",
    "matcher",
    "parser",
    "reports",
    "rules_generator",
    "scout",
    "url_cleaner",
)
"""Top-level packages that have to be Scout's own."""

MIN_PYTHON = (3, 11)
"""Oldest Python supported, as in pyproject.toml."""

MIN_FREE_SPACE = 500_000_000
"""Bytes free in the data folder below which a crawl is likely to fill the disk."""

OPTIONAL_MODULES = {"psycopg": "PostgreSQL", "s3fs": "page bodies on S3"}
"""Modules that Scout uses if they are installed, with their purpose."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check: `wrong` has to be repaired, `note` is good to know."""

    check: str
    state: Literal["ok", "note", "wrong"]
    message: str

    def as_json(self) -> dict[str, str]:
        """Convert to the object that `scout doctor --json` prints."""
        return {"check": self.check, "state": self.state, "found": self.message}


def run_checks(settings: Settings) -> list[CheckResult]:
    """Run all checks in order."""
    checks: list[Callable[[Settings], Iterator[CheckResult]]] = [
        _check_python,
        _check_package_names,
        _check_versions,
        _check_data_folder,
        _check_database,
        _check_bodies,
        _check_runs,
    ]
    return [result for check in checks for result in check(settings)]


def _check_python(_settings: Settings) -> Iterator[CheckResult]:
    interpreter = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info[:2] >= MIN_PYTHON:
        yield CheckResult("Python", "ok", interpreter)
    else:
        yield CheckResult("Python", "wrong", f"{interpreter}: Scout needs 3.11 or newer")


def _check_package_names(_settings: Settings) -> Iterator[CheckResult]:
    distributions = packages_distributions()
    home = Path(__file__).resolve().parents[1]
    problems: list[str] = []
    for name in PACKAGES:
        problems += foreign_owners(name, home, distributions.get(name, []))
    for problem in problems:
        yield CheckResult("package names", "wrong", problem)
    if not problems:
        message = f"{len(PACKAGES)} packages, all Scout's own, in {home}"
        yield CheckResult("package names", "ok", message)


def foreign_owners(name: str, home: Path, distributions: list[str]) -> Iterator[str]:
    """Describe foreign owners of a package name: distributions, and folders on the import path.

    `home` is the folder of Scout's packages, `distributions` the installed ones that claim the
    name.
    """
    normalized = {owner: owner.replace("_", "-").lower() for owner in distributions}
    for owner in sorted(normalized):
        if normalized[owner] != DISTRIBUTION:
            yield (
                f"distribution {owner!r} also owns the package {name!r}: "
                "install Scout in an environment of its own"
            )
    for path in sorted(_import_folders(name) - {home}):
        yield (
            f"a package {name!r} that is not Scout's is in {path}: "
            "remove it, or run Scout from elsewhere"
        )
    spec = find_spec(name)
    if spec is None or not spec.origin or Path(spec.origin).resolve().parents[1] != home:
        origin = spec.origin if spec else "nothing"
        yield f"'import {name}' finds {origin} instead of {home / name}: install Scout again"


def _import_folders(name: str) -> set[Path]:
    """Return the folders on the import path that hold a package or module of that name."""
    # An empty entry means the working folder.
    return {Path(entry or ".").resolve() for entry in sys.path if _is_importable(name, entry)}


def _is_importable(name: str, entry: str) -> bool:
    spec = PathFinder.find_spec(name, [entry])
    # A folder without modules is a namespace package: it has no origin, and any real package wins
    # over it.
    return spec is not None and spec.origin is not None


def _check_versions(_settings: Settings) -> Iterator[CheckResult]:
    try:
        requirements = [Requirement(text) for text in requires(DISTRIBUTION) or []]
    except PackageNotFoundError:
        yield CheckResult("versions", "wrong", f"{DISTRIBUTION} is not installed: pip install -e .")
        return
    needed = [requirement for requirement in requirements if _is_needed(requirement)]
    problems = [problem for problem in map(_version_problem, needed) if problem]
    for problem in problems:
        yield CheckResult("versions", "wrong", problem)
    if not problems:
        yield CheckResult("versions", "ok", f"{len(needed)} packages within their ranges")
    for name, purpose in OPTIONAL_MODULES.items():
        if find_spec(name):
            yield CheckResult(f"optional {name}", "ok", purpose)
        else:
            yield CheckResult(f"optional {name}", "note", f"{purpose}: not installed")


def _is_needed(requirement: Requirement) -> bool:
    # Requirements of extras carry a marker that is false without the extra.
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def _version_problem(requirement: Requirement) -> str | None:
    name = requirement.name
    try:
        installed = version(name)
    except PackageNotFoundError:
        return f"{name} is not installed: pip install '{requirement}'"
    if requirement.specifier.contains(installed, prereleases=True):
        return None
    return f"{name} {installed} is installed, {requirement} is needed: pip install '{requirement}'"


def _check_data_folder(settings: Settings) -> Iterator[CheckResult]:
    folder = settings.data_dir.resolve()
    probe = folder / f".doctor-{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        message = f"{folder} cannot be written to: {error.strerror}"
        yield CheckResult("data folder", "wrong", message)
        return
    state: Literal["ok", "wrong"] = "ok" if free > MIN_FREE_SPACE else "wrong"
    yield CheckResult("data folder", state, f"{folder}, {free / 1e9:.1f} GB free")


def _check_database(settings: Settings) -> Iterator[CheckResult]:
    try:
        Store.open(settings)
    except (ScoutError, ImportError) as error:
        yield CheckResult("database", "wrong", str(error))
        return
    message = f"{_without_password(settings.database)}, schema {newest_revision()}"
    yield CheckResult("database", "ok", message)


def _without_password(database: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(database).render_as_string(hide_password=True)


def _check_bodies(settings: Settings) -> Iterator[CheckResult]:
    probe = b"scout doctor was here"
    try:
        bodies = BodyStore(settings.bodies)
        is_intact = bodies.get(bodies.put(probe)) == probe
    except (ScoutError, OSError, ValueError, ImportError) as error:
        yield CheckResult("page bodies", "wrong", f"{settings.bodies}: {error}")
        return
    yield CheckResult("page bodies", "ok" if is_intact else "wrong", settings.bodies)


def _check_runs(settings: Settings) -> Iterator[CheckResult]:
    try:
        store = Store.open(settings)
        with store.read() as session:
            leases = lease_table.read_held(session, lease_table.SHOP_PREFIX)
            query = select(Shop, Run).where(Run.state == RunState.RUNNING, Run.shop_id == Shop.id)
            unfinished = list(session.exec(query))
    except (ScoutError, ImportError):
        # The check of the database has reported it already.
        return
    for shop, run in unfinished:
        label = f"run {run.id} of {shop.name} ({run.stage})"
        lease = leases.get(lease_table.shop_lease(run.shop_id))
        if lease is not None and locks.is_alive(settings, lease):
            yield CheckResult("runs", "ok", f"{label} is under way, {describe_holder(lease)}")
        else:
            message = f"{label} is unfinished: 'scout run {shop.name}' resumes it"
            yield CheckResult("runs", "note", message)
    if not unfinished:
        yield CheckResult("runs", "ok", f"none unfinished, {len(leases)} shops in use")
