"""The built wheel, installed into a fresh environment: the library examples of the documentation and the demo run."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs" / "howto" / "library.md"
# A fenced block of Python, and the block of text that shows its output.
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\s+```text\n(?P<output>.*?)```", re.DOTALL)
SOURCES = ("*.egg-info", ".*", "build", "dist", "var", "tests", "__pycache__")
PACKAGES = "catalog crawler matcher parser reports rules_generator scout url_cleaner".split()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*SOURCES))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*pip, *flags, str(source)], check=True, timeout=240)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def fresh_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment: the wheel, and the dependencies of this environment."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120
    )
    python = folder / "bin" / "python"
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    printed = subprocess.run([python, "-c", query], check=True, capture_output=True, text=True)
    site_packages = Path(printed.stdout.strip())
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    # Only the folder is added: `.pth` files inside it, such as an editable Scout, have no effect.
    dependencies = sysconfig.get_path("purelib")
    (site_packages / "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")
    return python


def test_wheel_holds_type_information_and_data(wheel: Path) -> None:
    """The wheel holds `py.typed` of every package, templates, styles, data files and the licence."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert "reports/templates/report.html" in names
    assert "catalog/language/translations/de.po" in names
    assert "scout/web/static/scout.css" in names
    assert "url_cleaner/data/wrappers.json" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_every_module_comes_from_the_wheel(fresh_python: Path, tmp_path: Path) -> None:
    """The fresh environment imports Scout from the wheel, not from the source tree."""
    code = f"import {', '.join(PACKAGES)}; print({', '.join(f'{p}.__file__' for p in PACKAGES)})"
    run = subprocess.run(
        [fresh_python, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    environment = fresh_python.parents[1]
    assert all(Path(path).is_relative_to(environment) for path in run.stdout.split())


def test_documentation_has_four_examples() -> None:
    """The library guide holds four examples of at most ten lines: learn and read, clean, match, deduplicate."""
    examples = [match["code"] for match in EXAMPLE.finditer(EXAMPLES.read_text(encoding="utf-8"))]
    assert len(examples) == 4
    assert [len(code.splitlines()) <= 10 for code in examples] == [True] * 4


@pytest.mark.parametrize("number", range(4))
def test_library_example(fresh_python: Path, tmp_path: Path, number: int) -> None:
    """Each example of the library guide prints exactly the output shown below it."""
    example = list(EXAMPLE.finditer(EXAMPLES.read_text(encoding="utf-8")))[number]
    run = subprocess.run(
        [fresh_python, "-P", "-c", example["code"]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == example["output"]


def test_demo_runs_from_the_wheel(fresh_python: Path, tmp_path: Path) -> None:
    """`scout demo` finds every missing offer of the demo shop and none wrongly."""
    run = subprocess.run(
        [fresh_python, "-P", "-m", "scout", "--data-dir", "data", "demo", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=290,
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert (result["precision"], result["recall"]) == (1.0, 1.0)
