"""Find a Java that Spark runs on: JAVA_HOME, then PATH, then the usual folders.

The version stands in the file `release` of each Java, so that none has to be started to ask.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from catalog.errors import ConfigError

# Versions of Java that Spark 4 is released for (its "Downloading" page), the preferred one first.
SUPPORTED_VERSIONS = (17, 21, 25)
# Folders in which packages of operating systems, SDKMAN and Homebrew install Java.
USUAL_FOLDERS = (
    "/usr/lib/jvm/*",
    "/opt/java/*",
    "/opt/*jdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
)
REMEDY = (
    "install Java 17 (Debian and Ubuntu: apt install openjdk-17-jre-headless), "
    "or set JAVA_HOME to its folder"
)
# Bytes of a `release` file that are read; the genuine ones have about 1,500.
MAX_RELEASE = 100_000
_VERSION = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d{1,4})', re.MULTILINE)


def find_java(
    environment: Mapping[str, str] = os.environ, folders: tuple[str, ...] = USUAL_FOLDERS
) -> Path:
    """Return the folder of a Java that Spark runs on.

    That of JAVA_HOME, else of PATH, if its version is supported, else the preferred version of the
    usual folders. Raises ConfigError, which names the unsupported ones.
    """
    unsupported: dict[Path, int] = {}
    for home in _named_homes(environment):
        version = java_version(home)
        if version in SUPPORTED_VERSIONS:
            return home
        if version is not None:
            unsupported[home] = version
    installed: dict[int, Path] = {}
    for home in _installed_homes(folders):
        version = java_version(home)
        if version in SUPPORTED_VERSIONS:
            installed.setdefault(version, home)
        elif version is not None:
            unsupported[home] = version
    for version in SUPPORTED_VERSIONS:
        if version in installed:
            return installed[version]
    wanted = ", ".join(map(str, SUPPORTED_VERSIONS[:-1])) + f" or {SUPPORTED_VERSIONS[-1]}"
    reason = "and there is none"
    if unsupported:
        listed = ", ".join(f"Java {version} in {home}" for home, version in unsupported.items())
        reason = f"and there is only {listed}"
    raise ConfigError(f"--engine spark: Spark needs Java {wanted}, {reason}: {REMEDY}")


def java_version(home: Path) -> int | None:
    """Return the major version of the Java in a folder; None if there is none."""
    if not (home / "bin" / "java").is_file():
        return None
    try:
        with (home / "release").open("rb") as file:
            text = file.read(MAX_RELEASE).decode("utf-8", "replace")
    except OSError:
        return None
    match = _VERSION.search(text)
    return int(match[1]) if match else None


def _named_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders that the environment names."""
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    program = shutil.which("java", path=environment.get("PATH", ""))
    if program:
        # Links such as /etc/alternatives/java lead to bin/java of the folder.
        yield Path(program).resolve().parents[1]


def _installed_homes(folders: tuple[str, ...]) -> Iterator[Path]:
    """Yield the folders in the usual places, in the order of their names."""
    for pattern in folders:
        path = Path(pattern).expanduser()
        yield from sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
