"""Settings: where they come from, and how a wrong one is told."""

from pathlib import Path

import pytest

from catalog.errors import ConfigError
from catalog.models import Attribute
from catalog.runtime.settings import Settings


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SCOUT_{name.upper()}", raising=False)


def test_defaults() -> None:
    """Unset, everything is kept in the folder `var`."""
    settings = Settings.load()
    assert settings.database == f"sqlite:///{Path('var') / 'scout.db'}"
    assert settings.bodies == str(Path("var") / "bodies")


def test_rising_order_of_force(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable is overruled by the file, the file by a flag; a flag not given overrules
    nothing.
    """
    monkeypatch.setenv("SCOUT_CONCURRENCY", "1")
    monkeypatch.setenv("SCOUT_TIMEOUT", "1")
    assert Settings.load().concurrency == 1
    Path("scout.toml").write_text('concurrency = 2\ndata_dir = "elsewhere"\n')
    assert Settings.load(concurrency=None).concurrency == 2
    assert Settings.load(concurrency=3).concurrency == 3
    assert Settings.load().timeout == 1
    assert Settings.load().data_dir == Path("elsewhere")


def test_confidence_is_asked_for_by_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attribute may have its own threshold; an attribute that there is not is told."""
    monkeypatch.setenv("SCOUT_CONFIDENCE", '{"price": 0.9}')
    assert Settings.load().confidence == {Attribute.PRICE: 0.9}
    Path("scout.toml").write_text("[confidence]\ntaste = 0.5\n")
    with pytest.raises(ConfigError, match="confidence"):
        Settings.load()


def test_database_and_bodies_of_their_own() -> None:
    """Database and page bodies may be elsewhere than in the data folder."""
    settings = Settings.load(database_url="postgresql://db/scout", bodies_url="s3://bucket/bodies")
    assert (settings.database, settings.bodies) == ("postgresql://db/scout", "s3://bucket/bodies")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            "concurrency = 'many'\n",
            r"setting 'concurrency': .*integer.* \(see SCOUT_CONCURRENCY and scout.toml\)",
        ),
        ("log_level = 'loud'\n", "setting 'log_level': "),
        ("colour = 'red'\n", "setting 'colour': Extra inputs are not permitted"),
        ("concurrency = \n", "scout.toml cannot be read: "),
    ],
)
def test_wrong_settings_are_told_in_one_line(toml: str, message: str) -> None:
    """A wrong value, an unknown name or a broken file is one clear line with the setting's name."""
    Path("scout.toml").write_text(toml)
    with pytest.raises(ConfigError, match=message) as caught:
        Settings.load()
    assert "\n" not in str(caught.value)


def test_wrong_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that cannot be used is named."""
    monkeypatch.setenv("SCOUT_TIMEOUT", "soon")
    with pytest.raises(ConfigError, match="SCOUT_TIMEOUT"):
        Settings.load()


def test_a_setting_may_stand_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As passwords are passed: by a variable with the file's name, or in a folder of secrets."""
    file = tmp_path / "password"
    file.write_text("postgresql://scout:hidden@db/scout\n")
    monkeypatch.setenv("SCOUT_DATABASE_URL_FILE", str(file))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / "scout_smtp_password").write_text("hidden too\n")
    (tmp_path / "scout_rates").write_text('{"EUR": 1}')
    settings = Settings.load()
    assert settings.database == "postgresql://scout:hidden@db/scout"
    assert settings.smtp_password.get_secret_value() == "hidden too"
    assert settings.rates == {"EUR": 1}
    assert Settings.load(database_url="sqlite://").database == "sqlite://"


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is a setting that stands in two places."""
    monkeypatch.setenv("SCOUT_DATABASE_URL_FILE", str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="absent cannot be read"):
        Settings.load()
    monkeypatch.setenv("SCOUT_DATABASE_URL", "sqlite://")
    with pytest.raises(ConfigError, match="both set"):
        Settings.load()


def test_credentials_that_are_not_there_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a service without its database's URL would go on with an empty database."""
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="absent"):
        Settings.load()


def test_an_empty_secret_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without content, and a folder in its place, do not lead to a database of one's own."""
    empty = tmp_path / "scout_database_url"
    empty.write_text("\n")
    with monkeypatch.context() as patch:
        patch.setenv("SCOUT_DATABASE_URL_FILE", str(empty))
        with pytest.raises(ConfigError, match="is empty"):
            Settings.load()
    empty.unlink()
    empty.mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with pytest.raises(ConfigError, match="Is a directory"):
        Settings.load()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("SCOUT_CONCURRENCY", "0", "greater than or equal to 1"),
        ("SCOUT_METRICS_PORT", "99999", "less than or equal to 65535"),
        ("SCOUT_CONFIDENCE", "{price: 0.9}", "a SCOUT_* variable cannot be read"),
        ("SCOUT_PUBLIC_URL", "scout.example", "'public_url': write an address such as https://"),
    ],
)
def test_wrong_values_of_variables(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    """A number out of its range, a table that is no JSON and the like are told in one line."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        Settings.load()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
