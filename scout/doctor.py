"""The doctor: what can be wrong with an installation and its store, looked at one by one.

Scout's rooms are top-level packages with general names. Another distribution, or a folder that merely lies on the
import path, may own `crawler` or `parser` too, and whichever comes first is imported, without a word.
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
from catalog.storage.bodies import Bodies
from catalog.storage.store import Store, head
from scout.pipeline import locks

DISTRIBUTION = "scout-offer-gaps"
NAMES = (
    "catalog",
    "crawler",
    "matcher",
    "parser",
    "reports",
    "rules_generator",
    "scout",
    "url_cleaner",
)
OLDEST_PYTHON = (3, 11)
LEAST_SPACE = 500_000_000
OPTIONAL = {"psycopg": "PostgreSQL", "s3fs": "page bodies on S3"}


@dataclass(frozen=True)
class Finding:
    """What one check found. `wrong` has to be mended, `note` is good to know."""

    check: str
    state: Literal["ok", "note", "wrong"]
    found: str


def examine(settings: Settings) -> list[Finding]:
    """All checks, in order."""
    checks: list[Callable[[Settings], Iterator[Finding]]] = [
        _python,
        _names,
        _versions,
        _data_folder,
        _database,
        _bodies,
        _runs,
    ]
    return [finding for check in checks for finding in check(settings)]


def _python(_settings: Settings) -> Iterator[Finding]:
    fits = sys.version_info[:2] >= OLDEST_PYTHON
    said = f"{sys.version.split()[0]} at {sys.executable}"
    yield Finding(
        "Python", "ok" if fits else "wrong", said if fits else f"{said}: Scout needs 3.11 or newer"
    )


def _names(_settings: Settings) -> Iterator[Finding]:
    owners = packages_distributions()
    home = Path(__file__).resolve().parents[1]
    troubles = [
        trouble for name in NAMES for trouble in strangers(name, home, owners.get(name, []))
    ]
    for trouble in troubles:
        yield Finding("package names", "wrong", trouble)
    if not troubles:
        yield Finding("package names", "ok", f"{len(NAMES)} packages, all Scout's own, in {home}")


def strangers(name: str, home: Path, owners: list[str]) -> Iterator[str]:
    """What else than Scout owns a package name: installed distributions, and packages lying on the import path."""
    for owner in sorted(
        {owner for owner in owners if owner.replace("_", "-").lower() != DISTRIBUTION}
    ):
        yield f"distribution {owner!r} also owns the package {name!r}: install Scout in an environment of its own"
    places = {place: Path(place or ".").resolve() for place in sys.path}
    others = {path for place, path in places.items() if path != home and _holds(name, place)}
    for path in sorted(others):
        yield f"a package {name!r} that is not Scout's lies in {path}: remove it, or run Scout from elsewhere"
    spec = find_spec(name)
    if spec is None or not spec.origin or Path(spec.origin).resolve().parents[1] != home:
        yield f"'import {name}' finds {spec.origin if spec else 'nothing'} instead of {home / name}: install Scout anew"


def _holds(name: str, place: str) -> bool:
    spec = PathFinder.find_spec(name, [place])
    return spec is not None and spec.origin is not None


def _versions(_settings: Settings) -> Iterator[Finding]:
    try:
        wanted = [Requirement(text) for text in requires(DISTRIBUTION) or []]
    except PackageNotFoundError:
        yield Finding("versions", "wrong", f"{DISTRIBUTION} is not installed: pip install -e .")
        return
    wanted = [
        needed
        for needed in wanted
        if needed.marker is None or needed.marker.evaluate({"extra": ""})
    ]
    troubles = [trouble for needed in wanted if (trouble := _misfit(needed))]
    for trouble in troubles:
        yield Finding("versions", "wrong", trouble)
    if not troubles:
        yield Finding("versions", "ok", f"{len(wanted)} packages within their ranges")
    for name, use in OPTIONAL.items():
        yield Finding(
            f"optional {name}", "ok" if find_spec(name) else "note", f"{use}{_absence(name)}"
        )


def _absence(name: str) -> str:
    return "" if find_spec(name) else ": not installed"


def _misfit(needed: Requirement) -> str | None:
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is not installed: pip install '{needed}'"
    if needed.specifier.contains(found, prereleases=True):
        return None
    return f"{needed.name} {found} is installed, {needed} is needed: pip install '{needed}'"


def _data_folder(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir.resolve()
    probe = folder / f".doctor-{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield Finding("data folder", "wrong", f"{folder} cannot be written to: {error.strerror}")
        return
    said = f"{folder}, {free / 1e9:.1f} GB free"
    yield Finding("data folder", "ok" if free > LEAST_SPACE else "wrong", said)


def _database(settings: Settings) -> Iterator[Finding]:
    try:
        Store.open(settings)
    except (ScoutError, ImportError) as error:
        yield Finding("database", "wrong", str(error))
        return
    yield Finding("database", "ok", f"{_without_password(settings.database)}, schema {head()}")


def _without_password(database: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(database).render_as_string(hide_password=True)


def _bodies(settings: Settings) -> Iterator[Finding]:
    probe = b"scout doctor was here"
    try:
        bodies = Bodies(settings.bodies)
        kept = bodies.get(bodies.put(probe)) == probe
    except (ScoutError, OSError, ValueError, ImportError) as error:
        yield Finding("page bodies", "wrong", f"{settings.bodies}: {error}")
        return
    yield Finding("page bodies", "ok" if kept else "wrong", settings.bodies)


def _runs(settings: Settings) -> Iterator[Finding]:
    try:
        store = Store.open(settings)
        held = {path.stem for path in locks.folder(settings).glob("*.lock") if locks.is_held(path)}
        with store.read() as session:
            open_runs = session.exec(
                select(Shop, Run).where(Run.state == RunState.RUNNING, Run.shop_id == Shop.id)
            )
            unfinished = [(shop, run) for shop, run in open_runs]
    except (ScoutError, ImportError):
        return
    for shop, run in unfinished:
        under_way = locks.shop_lock_name(run.shop_id) in held
        said = "under way" if under_way else f"unfinished: 'scout run {shop.name}' goes on with it"
        yield Finding(
            "runs",
            "ok" if under_way else "note",
            f"run {run.id} of {shop.name} ({run.stage}) is {said}",
        )
    if not unfinished:
        yield Finding("runs", "ok", f"none unfinished, {len(held)} locks held")
