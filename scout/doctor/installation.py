"""Checks of the installation: Python, Scout's packages, those of others, and programs beside them.

Scout's packages are top-level packages with general names. Another distribution, or a folder that
merely lies on the import path, may own `crawler` or `parser` too; whichever comes first is
imported, without any warning.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement

from catalog.errors import ConfigError
from catalog.runtime.served_process import safe_environment
from catalog.runtime.settings import Settings
from catalog.runtime.spark.java import find_java, java_version
from scout.doctor.check_result import CheckResult, CheckState

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

OPTIONAL_MODULES = {
    "psycopg": ("PostgreSQL", "postgresql"),
    "s3fs": ("page bodies on S3", ""),
    "scrapy_playwright": ("shops that need JavaScript", "javascript"),
    "opentelemetry.sdk": ("traces", "traces"),
}
"""Modules that Scout uses if they are installed: their purpose, and the extra that brings them."""

PROGRAM_TIMEOUT = 20
"""Seconds of wall-clock time in which a program prints its version, or a browser an empty page."""


def check_python(_settings: Settings) -> Iterator[CheckResult]:
    interpreter = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info[:2] >= MIN_PYTHON:
        yield CheckResult("Python", "ok", interpreter)
    else:
        yield CheckResult("Python", "wrong", f"{interpreter}: Scout needs 3.11 or newer")


def check_package_names(_settings: Settings) -> Iterator[CheckResult]:
    distributions = packages_distributions()
    home = Path(__file__).resolve().parents[2]
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


def check_versions(_settings: Settings) -> Iterator[CheckResult]:
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
    for name, (purpose, extra) in OPTIONAL_MODULES.items():
        if _is_installed(name):
            yield CheckResult(f"optional {name}", "ok", purpose)
            continue
        package = f"'{DISTRIBUTION}[{extra}]'" if extra else name
        message = f"not installed; for {purpose}: pip install {package}"
        yield CheckResult(f"optional {name}", "note", message)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # The package that holds it is absent.
        return False


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


def check_browser(settings: Settings) -> Iterator[CheckResult]:
    """Check the Chromium that reads shops that need JavaScript."""
    from crawler.fetch.browser import find_browser, start_hint

    try:
        browser = find_browser(settings)
    except ConfigError as error:
        state: CheckState = "wrong" if settings.browser else "note"
        yield CheckResult("Chromium", state, f"for shops that need JavaScript: {error}")
        return
    answer = _program_output(browser, "--version")
    if answer is None or not _renders_a_page(browser):
        yield CheckResult("Chromium", "wrong", start_hint(browser))
        return
    yield CheckResult("Chromium", "ok", f"{answer.strip()} at {browser}")


def _renders_a_page(browser: str) -> bool:
    """Return True if a browser starts as it does for a crawl: in its sandbox, except as root."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        switches = ["--headless", f"--user-data-dir={profile}", "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            switches.append("--no-sandbox")
        return _program_output(browser, *switches, "--dump-dom", "about:blank") is not None


def check_java(_settings: Settings) -> Iterator[CheckResult]:
    """Check the Java that `--engine spark` needs."""
    try:
        home = find_java()
    except ConfigError as error:
        yield CheckResult("Java", "note", str(error))
        return
    yield CheckResult("Java", "ok", f"version {java_version(home)} in {home}")


@cache
def _program_output(*command: str) -> str | None:
    """Return the output of a program, or else its errors; None where it fails."""
    try:
        done = subprocess.run(
            command,
            env=safe_environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROGRAM_TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout or done.stderr
