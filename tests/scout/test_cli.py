"""The command line as a whole: promised commands, help texts, and the generated manual."""

import gc
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from scout import cli
from scout.cli import main
from scout.manual import list_commands, render_manual
from scout.pipeline import run_process
from tests.scout.conftest import FakeStages, Scout

ROOT = Path(__file__).parents[2]
COMMANDS = dict(list_commands())
PROMISED = """
demo; shop add; shop set; shop list; shop show; shop remove; catalog import; catalog show; run; crawl; learn; parse;
match; report; offers; decide; review SHOP confirm; review SHOP reject; review SHOP ignore; review SHOP list;
review SHOP undo; review SHOP export; review SHOP import; rules show; rules export; rules import; rules lock; rules unlock; rules set;
rules history; rules test; rules diff; rules restore; url clean; evaluate urls; serve; schedule add; schedule list; schedule remove; db upgrade; db copy; doctor;
inspect; url learn; evaluate extraction; evaluate matching; dedupe
"""


def test_manual() -> None:
    """docs/cli.md is up to date; `python -m scout.manual > docs/cli.md` generates it."""
    assert (ROOT / "docs" / "cli.md").read_text(
        encoding="utf-8"
    ).rstrip() == render_manual().rstrip()


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str) -> None:
    """Every command has a sentence of help, and so has every option and argument."""
    command = COMMANDS[name]
    assert (command.help or "").strip().endswith((".", "?")), name
    without = [
        parameter.name for parameter in command.params if not getattr(parameter, "help", None)
    ]
    assert without in ([], ["help"]), name


@pytest.mark.parametrize("name", PROMISED.replace("\n", " ").split(";"))
def test_promised(name: str) -> None:
    """Every promised command exists."""
    assert f"scout {name.strip()}" in COMMANDS


def test_quick() -> None:
    """`scout --help` imports no other package, and answers in a fraction of a second."""
    begun = time.perf_counter()
    loaded = "import sys, scout.cli; print(*{name.partition('.')[0] for name in sys.modules})"
    modules = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {
        "sqlalchemy",
        "pydantic",
        "scrapy",
        "sklearn",
        "numpy",
        "rich",
        "catalog",
        "crawler",
    } & set(modules)
    assert time.perf_counter() - begun < 3


OPEN_STORE = """
import sys
from scout.cli import main
main(["--data-dir", sys.argv[1], *sys.argv[2:]])
sys.stderr.write(" ".join({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    "command",
    [("shop", "list"), ("shop", "show", "demo"), ("offers", "demo"), ("review", "demo", "list")],
)
def test_a_command_loads_no_more_than_it_needs(
    settings: Settings, store: Store, scout: Scout, known_shop: Shop, fake_stages: FakeStages,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    """A command that reads the store of a shop with a finished run computes and migrates nothing."""
    assert scout("run", "demo").code == 0
    assert scout(*command).code == 0
    program = [sys.executable, "-c", OPEN_STORE, str(settings.data_dir), *command]
    result = subprocess.run(program, capture_output=True, text=True, check=True)
    too_much = {"alembic", "lxml", "numpy", "polars", "rich", "scipy", "scrapy", "sklearn"}
    too_much |= {"selectolax", "structlog", "twisted"}
    assert not too_much & set(result.stderr.split())


def test_version(scout: Scout) -> None:
    """`--version` prints the version and exits."""
    result = scout("--version")
    assert (result.code, result.out.startswith("scout ")) == (0, True)


@pytest.mark.parametrize("arguments", [(), ("shop",), ("rules",)])
def test_group_without_command(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    """A group without a command prints its help and counts as wrong usage."""
    assert main(arguments) == 2
    assert "Usage: scout" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["extraction --predictions", "extraction --chart", "matching --predictions"]
)
def test_unwritable_output_file(scout: Scout, tmp_path: Path, option: str) -> None:
    """An output file that cannot be written is reported before any work."""
    command, flag = option.split()
    for path, reason in (
        (tmp_path / "none" / "output", "none is no folder"),
        (tmp_path, "it is a folder"),
    ):
        result = scout("evaluate", command, str(tmp_path), flag, str(path))
        assert result.code > 0
        assert result.error.endswith(reason)


def test_precedence_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A flag overrides scout.toml, and scout.toml overrides a variable."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCOUT_DATA_DIR", str(tmp_path / "variable"))
    main(["shop", "list"])
    (tmp_path / "scout.toml").write_text('data_dir = "file"\n', encoding="utf-8")
    main(["shop", "list"])
    main(["--data-dir", "flag", "shop", "list"])
    capsys.readouterr()
    created = [
        name for name in ("variable", "file", "flag") if (tmp_path / name / "scout.db").is_file()
    ]
    assert created == ["variable", "file", "flag"]


def test_shops(scout: Scout) -> None:
    """A shop is added, listed, shown and removed; a second one with its name is refused."""
    assert (
        scout(
            "shop",
            "add",
            "a b",
            "--url",
            "https://shop.example?x=1",
            "--sitemap",
            "https://shop.example/s.xml",
        ).code
        == 0
    )
    duplicate = scout("shop", "add", "a b", "--url", "https://other.example")
    assert (duplicate.code, "a shop is called 'a b' already" in duplicate.error) == (1, True)
    listed = [json.loads(line) for line in scout("shop", "list", "--json").out.splitlines()]
    assert [(row["name"], row["url"]) for row in listed] == [("a b", "https://shop.example/")]
    assert json.loads(scout("shop", "show", "a b", "--json").out)["sitemaps"] == [
        "https://shop.example/s.xml"
    ]
    assert scout("shop", "remove", "a b").code == 0
    assert scout("shop", "list", "--json").out == ""


def test_limits_of_a_shop(scout: Scout) -> None:
    """A shop's crawl limits are set when it is added and changed later.

    0 and `always` remove one, nonsense is refused.
    """
    limits = (
        "--max-bytes",
        "1.5GB",
        "--max-minutes",
        "90",
        "--window",
        "22:00-6:00",
        "--delay",
        "2",
    )
    assert scout("shop", "add", "s", "--url", "https://shop.example", *limits).code == 0

    def shown() -> list[object]:
        shop = json.loads(scout("shop", "show", "s", "--json").out)
        return [
            shop[name]
            for name in ("max_pages", "max_bytes", "max_minutes", "window", "delay", "last_crawl")
        ]

    assert shown() == [20_000, 1_500_000_000, 90.0, "22:00-06:00", 2.0, {}]
    assert (
        scout(
            "shop", "set", "s", "--max-bytes", "0", "--max-pages", "50", "--window", "always"
        ).code
        == 0
    )
    assert shown() == [50, None, 90.0, None, 2.0, {}]
    for option, value in (("--window", "at night"), ("--max-bytes", "much")):
        refused = scout("shop", "set", "s", option, value)
        assert (refused.code > 0, value in refused.error) == (True, True)
    assert shown()[0] == 50


@pytest.mark.parametrize(
    "arguments",
    [
        ("x", "--url", "ftp://shop.example"),
        ("x", "--url", "shop.example"),
        ("x", "--url", "http://user:secret@shop.example"),
        ("x", "--url", "http://shop.example:99999"),
        ("x", "--url", "http://169.254.169.254/"),
        ("x", "--url", "http://localhost:80/"),
        ("a/b", "--url", "https://shop.example"),
        ("a\tb", "--url", "https://shop.example"),
    ],
)
def test_bad_shops(scout: Scout, arguments: tuple[str, ...]) -> None:
    """A shop with an untypable name, or a root URL that must not be crawled, is not added."""
    result = scout("shop", "add", *arguments)
    assert (result.code, result.error != "") == (1, True)


def test_remove_all(scout: Scout, store: Store, known_shop: Shop, fake_stages: FakeStages) -> None:
    """Removing a shop deletes all its rows in all tables."""
    from sqlmodel import SQLModel, select

    scout("run", "demo")
    scout("decide", "demo", f"{known_shop.url}p/0", "ignore")
    scout("schedule", "add", "demo", "--cron", "0 5 * * *")
    assert scout("shop", "remove", "demo").code == 0
    with store.read() as session:
        for table in SQLModel.metadata.sorted_tables:
            assert session.connection().execute(select(table)).first() is None, table.name


def test_offers(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """`scout offers` prints missing offers by default, and as JSON one object a line."""
    scout("run", "demo")
    rows: dict[str, list[dict[str, Any]]] = {}
    for flag in ("", "--missing", "--listed", "--unsure", "--all"):
        arguments = ["offers", "demo", "--json", *([flag] if flag else [])]
        rows[flag] = [json.loads(line) for line in scout(*arguments).out.splitlines()]
    assert [len(printed) for printed in rows.values()] == [1, 1, 1, 1, 3]
    assert rows[""][0]["verdict"] == "missing"
    assert set(rows[""][0]) >= set(
        "url title price currency brand category ean han sku verdict cause score nearest".split()
    )
    assert "1 offer (missing)" in scout("offers", "demo").out


def test_decide(scout: Scout, known_shop: Shop, fake_stages: FakeStages) -> None:
    """A review decision is stored under the finding's URL, and the newest one counts."""
    scout("run", "demo")
    url = json.loads(scout("offers", "demo", "--json").out)["url"]
    for decision in ("confirm", "accept", "reject"):
        result = scout("decide", "demo", f"{url}?utm_source=mail", decision, "--note", "seen by me")
        assert (result.code, url in result.out, result.err) == (0, True, "")
    assert scout("offers", "demo", "--json").out == ""
    assert (
        "is not among the offers of the last finished run"
        in scout("decide", "demo", "http://127.0.0.1:8000/else", "ignore").err
    )


def test_clean(scout: Scout, monkeypatch: pytest.MonkeyPatch) -> None:
    """`scout url clean` prints an object per link in order, from arguments or standard input.

    Exit code 1 for a bad one.
    """
    import io

    links = ["https://shop.example/p?id=7&utm_source=x", "no link", "https://bit.ly/2Kqyrz2"]
    from_arguments = scout("url", "clean", "--json", "--home", "https://shop.example/", *links)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(links) + "\n"))
    from_input = scout("url", "clean", "--json", "--home", "https://shop.example/", "-")
    assert from_arguments.out == from_input.out
    good, bad, opaque = map(json.loads, from_arguments.out.splitlines())
    assert (good["url"], bad["url"], opaque["opaque"]) == (
        "https://shop.example/p?id=7",
        None,
        True,
    )
    assert "error" in bad
    assert (from_arguments.code, from_input.code, scout("url", "clean", links[0]).code) == (1, 1, 0)


def test_interrupted(
    settings: Settings, scout: Scout, known_shop: Shop, fake_stages: FakeStages
) -> None:
    """Ctrl-C ends with exit code 130 and a line that the same command resumes."""
    fake_stages.fail["parse"] = KeyboardInterrupt()
    result = scout("run", "demo")
    assert (result.code, result.error) == (
        130,
        "interrupted: the same command resumes the work",
    )
    assert scout("run", "demo").code == 0


def test_a_killed_run_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The process that waits for it lives on, so that the shell says nothing."""
    monkeypatch.setattr(sys, "argv", ["scout", "run", "demo"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(run_process, "run_as_this_process", lambda _: cli.KILLED)
    threshold = gc.get_threshold()
    assert cli.main() == cli.KILLED
    gc.set_threshold(*threshold)
    assert capsys.readouterr().err.startswith("error: the run was killed, perhaps because memory")


def test_links_of_a_shop(scout: Scout, shop: Shop) -> None:
    """Links are cleaned with a shop's root; --home together with --shop is refused."""
    link = f"{shop.url}p/1?utm_source=x&partner=y&size=4"
    assert scout("url", "clean", "--shop", "demo", link).out == f"{shop.url}p/1?size=4\n"
    assert (
        scout("url", "clean", "--shop", "demo", "https://bit.ly/x").out
        == "opaque: https://bit.ly/x\n"
    )
    assert scout("url", "clean", "--shop", "demo", "--home", shop.url, link).code == 2
