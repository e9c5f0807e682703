"""Java for Spark: found by JAVA_HOME, PATH and in usual folders, or missed with the remedy."""

from pathlib import Path

import pytest

from catalog.errors import ConfigError
from catalog.runtime.spark.java import find_java, java_version


def install(home: Path, version: str) -> Path:
    """Make a folder that looks like an installed Java."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.21", 17), ("1.8.0_402", 8), ("21", 21), ("none", None)]
)
def test_the_version_is_read(tmp_path: Path, version: str, major: int | None) -> None:
    """The major version stands in the file `release`, before Java 9 behind `1.`."""
    assert java_version(install(tmp_path / "java", version)) == major


def test_java_home_goes_first(tmp_path: Path) -> None:
    """JAVA_HOME goes before PATH, and PATH before the usual folders."""
    named = install(tmp_path / "named", "21.0.1")
    on_path = install(tmp_path / "path", "17.0.2")
    usual = install(tmp_path / "usual" / "jdk", "17.0.2")
    folders = (f"{tmp_path}/usual/*",)
    environment = {"JAVA_HOME": str(named), "PATH": str(on_path / "bin")}
    assert find_java(environment, folders) == named
    assert find_java({"PATH": str(on_path / "bin")}, folders) == on_path
    assert find_java({"PATH": ""}, folders) == usual


def test_an_old_java_is_passed_over(tmp_path: Path) -> None:
    """An unsupported JAVA_HOME is passed over for the preferred one of the usual folders."""
    old = install(tmp_path / "old", "11.0.2")
    for name, version in (("a", "25"), ("b", "17.0.9"), ("c", "21.0.1")):
        install(tmp_path / "usual" / name, version)
    found = find_java({"JAVA_HOME": str(old), "PATH": ""}, (f"{tmp_path}/usual/*",))
    assert found == tmp_path / "usual" / "b"


@pytest.mark.parametrize("has_old", [False, True])
def test_without_java(tmp_path: Path, has_old: bool) -> None:
    """One line names the versions, those that are there, and the remedy."""
    if has_old:
        install(tmp_path / "old", "11.0.2")
    with pytest.raises(ConfigError, match=r"Java 17, 21 or 25, .*: install Java 17") as caught:
        find_java({"PATH": ""}, (f"{tmp_path}/*",))
    assert ("Java 11 in" in str(caught.value)) == has_old
    assert "\n" not in str(caught.value)
