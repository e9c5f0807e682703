"""Container, compose and systemd files hold together: no password in them, and commands that exist."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from catalog.runtime.settings import Settings
from scout.cli import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
# Variables of other programs that name a file, or no secret.
SECRET_WORDS = re.compile(r"PASSWORD|SECRET|TOKEN|DATABASE_URL|ACCESS_KEY")


def compose(name: str = "compose.yml") -> dict[str, Any]:
    """Return a compose file."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    return loaded


def check_command(words: list[str]) -> None:
    """Check that words are a command of `scout` with options that it has."""
    group: Any = get_command(app)
    names = []
    while hasattr(group, "commands") and words and not words[0].startswith("-"):
        names.append(words.pop(0))
        group = group.commands[names[-1]]
    options = {option for parameter in group.params for option in getattr(parameter, "opts", ())}
    given = {word for word in words if word.startswith("--")}
    assert given <= options, f"{names}: {given - options}"
    # `scout worker` is a command with sub-commands.
    assert isinstance(group, typer.core.TyperCommand) or names == ["worker"], names


def test_compose_passes_secrets_as_files() -> None:
    """Each secret that a service has is one of the file, and no variable holds a password."""
    loaded = compose()
    for name, service in loaded["services"].items():
        assert set(service.get("secrets", ())) <= set(loaded["secrets"]), name
        for variable, value in service.get("environment", {}).items():
            if SECRET_WORDS.search(variable):
                assert str(value).startswith("/run/secrets/"), f"{name}: {variable}"
            if variable.startswith("SCOUT_"):
                assert variable.removeprefix("SCOUT_").lower() in Settings.model_fields
    for secret in loaded["secrets"].values():
        assert secret["file"].startswith("secrets/")


def test_compose_waits_for_what_it_needs() -> None:
    """Services start when those that they need are healthy, and restart when they end."""
    services = compose()["services"]
    for service in services.values():
        for needed, condition in service.get("depends_on", {}).items():
            is_checked = "healthcheck" in services[needed]
            assert is_checked == (condition["condition"] == "service_healthy") or needed == "setup"
    for name in ("web", "worker", "schedule"):
        assert services[name]["restart"] == "unless-stopped"
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]


def test_commands_exist() -> None:
    """All services and units start commands of `scout` that exist, with options that they have."""
    services = compose()["services"]
    for name in ("web", "schedule", "worker"):
        check_command(list(services[name]["command"]))
    for unit in UNITS:
        if unit.suffix == ".service":
            started = re.search(
                r"^ExecStart=.*?/bin/scout ([^'\n]+)", unit.read_text(), re.MULTILINE
            )
            assert started is not None, unit.name
            check_command(shlex.split(started[1]))


def test_prometheus_may_ask_the_web_application() -> None:
    """The host that the scrape job names is a service, and one of the names that it answers to."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (target,) = scraped["scrape_configs"][0]["static_configs"][0]["targets"]
    host = target.partition(":")[0]
    command = compose()["services"][host]["command"]
    assert command[command.index("--allow-host") + 1] == host


def test_browser_is_added_to_all_services_of_scout() -> None:
    """They share an image: its arguments are the same, and go beyond those of the plain one."""
    plain, with_browser = compose(), compose("compose.javascript.yml")
    built = {name for name, service in plain["services"].items() if "build" in service}
    assert set(with_browser["services"]) == built
    extras = re.findall(r"^ARG EXTRAS=(\S+)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    packages = plain["x-scout"]["build"]["args"]["PACKAGES"]
    for service in with_browser["services"].values():
        assert service["build"]["args"] == {
            "PACKAGES": f"{packages} chromium",
            "EXTRAS": f"{extras[0]},javascript",
        }


def test_images_are_named_in_full() -> None:
    """Podman has no registry of its own for short names."""
    built = compose()["x-scout"]["image"]
    pulled = {service["image"] for service in compose()["services"].values()} - {built}
    bases = re.findall(r"^FROM (\S+)", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert bases
    for image in (*pulled, *bases):
        assert image.startswith("docker.io/"), image


def test_the_container_is_confined() -> None:
    """It runs as an ordinary user, is checked for readiness, and gets all packages."""
    lines = (DEPLOY / "Containerfile").read_text()
    assert "USER 10001:10001" in lines
    assert "/readyz" in lines
    copied = set(re.findall(r"^COPY (\w+) \w+$", lines, re.MULTILINE))
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert packages <= copied
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in packages} <= set(allowed)


def test_secrets_are_random(tmp_path: Path) -> None:
    """A second call leaves the secrets as they are."""
    script = tmp_path / "make-secrets.sh"
    shutil.copy(DEPLOY / "make-secrets.sh", script)
    subprocess.run(["sh", str(script)], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    assert set(made) == set(compose()["secrets"])
    assert len(made["postgres_password"]) > 40
    assert made["postgres_password"].strip() in made["scout_database_url"]
    subprocess.run(["sh", str(script)], check=True, capture_output=True)
    assert made == {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_pass_secrets_as_credentials(unit: Path) -> None:
    """A service is confined and runs as a user of its own; nothing in it is a password."""
    text = unit.read_text()
    if unit.suffix == ".timer":
        assert "Persistent=yes" in text
        return
    for line in ("User=scout", "NoNewPrivileges=yes", "ProtectSystem=strict"):
        assert line in text
    assert "LoadCredential=scout_database_url:" in text
    assert not re.search(r"^Environment=.*(?:PASSWORD|DATABASE_URL)", text, re.MULTILINE)


def test_units_are_valid(tmp_path: Path) -> None:
    """As systemd reads them."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in UNITS:
        name = unit.name.replace("@.", "@1.")
        text = unit.read_text().replace("/srv/scout/.venv/bin/scout", "/bin/true")
        (tmp_path / name).write_text(text)
    units = [str(path) for path in sorted(tmp_path.iterdir())]
    done = subprocess.run([program, "verify", *units], capture_output=True, text=True, check=False)
    of_ours = [line for line in done.stderr.splitlines() if "scout" in line]
    assert (done.returncode, of_ours) == (0, [])
