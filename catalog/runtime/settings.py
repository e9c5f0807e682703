"""Settings from files of their own (`catalog.runtime.setting_files`), `SCOUT_*` environment
variables, `scout.toml` and command-line flags; each overrides the one before.
"""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from catalog.errors import ConfigError
from catalog.models import Attribute, Role
from catalog.runtime.setting_files import SettingFiles

# An ISO 4217 code, as offers carry it.
CurrencyCode = Annotated[str, Field(pattern="^[A-Z]{3}$")]


class Settings(BaseSettings):
    """Storage places, limits and crawler identity; `Settings.load()` reports an invalid one in one
    line.

    `timeout` is in seconds, `max_body` in bytes, `run_memory` in MB (0: no limit). `workers` is the
    number of processes that parse pages, `at_once` the number of shops run in parallel. `precision`
    is the target of the matcher's verdicts; `confidence` the least confidence, per attribute, at
    which a value is taken. `rates` gives the value of one unit of a currency, all in one unit, such
    as EUR 1 and USD 0.92: with them, lists rank amounts of several currencies together. `language`
    is that of reports for people.

    `scout serve` removes runs and logs older than `keep_days`, and all but the newest `keep_runs`
    runs of a shop, once a day; 0 keeps all.

    `public_url` is the address at which people reach `scout serve`. The `oidc_` settings let them
    sign in by OpenID Connect: `oidc_roles` gives the role of a group in the claim
    `oidc_groups_claim`, `oidc_role` that of everybody else (`none`: they may not sign in).

    `traces_url` is the address of OTLP over HTTP to which traces are sent.

    A shop that is run has a lease in the database. It expires `lease_seconds` after its last
    renewal. With `use_workers`, scheduled runs and runs that the control room starts are queued
    for `scout worker`, which tries a failing job `job_attempts` times.

    `spark_folder` is one that all machines of a Spark cluster share.

    Mails go out by `smtp_host`, from `mail_from`. `private_webhooks` allows webhooks in a private
    network.
    """

    model_config = SettingsConfigDict(env_prefix="SCOUT_", toml_file="scout.toml", extra="forbid")

    data_dir: Path = Path("var")
    database_url: str = ""
    bodies_url: str = ""
    contact: str = ""
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    concurrency: int = Field(default=8, ge=1)
    timeout: float = Field(default=20.0, gt=0)
    max_body: int = Field(default=8_000_000, ge=1)
    workers: int = Field(default=2, ge=1)
    verify_certificates: bool = False
    browser: str = ""
    precision: float = Field(default=0.98, ge=0.5, le=0.999)
    link_lists: list[Path] = []
    metrics_port: int = Field(default=0, ge=0, le=65535)
    traces_url: str = ""
    at_once: int = Field(default=2, ge=1)
    spark_folder: Path | None = None
    run_memory: int = Field(default=4_000, ge=0)
    keep_days: int = Field(default=0, ge=0)
    keep_runs: int = Field(default=0, ge=0)
    lease_seconds: float = Field(default=90, ge=1, le=100)
    use_workers: bool = False
    job_attempts: int = Field(default=4, ge=1)
    rates: dict[CurrencyCode, Annotated[Decimal, Field(gt=0)]] = {}
    language: Literal["en", "de"] = "en"
    confidence: dict[Attribute, Annotated[float, Field(ge=0, le=1)]] = {}
    public_url: str = ""
    smtp_host: str = ""
    smtp_port: int = Field(default=587, ge=1, le=65535)
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_user: str = ""
    smtp_password: SecretStr = SecretStr("")
    mail_from: str = ""
    private_webhooks: bool = False
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr = SecretStr("")
    oidc_groups_claim: str = "groups"
    oidc_roles: dict[str, Role] = {}
    oidc_role: Role | Literal["none"] = Role.VIEWER

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and not (parts.scheme in ("http", "https") and parts.hostname):
            raise ValueError("write an address such as https://scout.example")
        return url

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: flags, `scout.toml`, the environment, files of single settings."""
        toml = TomlConfigSettingsSource(settings_cls)
        return init_settings, toml, env_settings, SettingFiles(settings_cls)

    @classmethod
    def load(cls, **flags: object) -> "Settings":
        """Load the settings in force. Raises ConfigError, which names the setting and the
        problem.
        """
        given_flags = {name: value for name, value in flags.items() if value is not None}
        try:
            return cls(**given_flags)  # type: ignore[arg-type]
        except ValidationError as error:
            first = error.errors()[0]
            name = ".".join(map(str, first["loc"]))
            # Messages of the checks above have a prefix of pydantic's.
            problem = first["msg"].removeprefix("Value error, ")
            variable = f"SCOUT_{name.partition('.')[0].upper()}"
            raise ConfigError(
                f"setting {name!r}: {problem} (see {variable} and scout.toml)"
            ) from error
        except SettingsError as error:
            # Its own message names a class of pydantic-settings.
            raise ConfigError(
                f"a SCOUT_* variable cannot be read: {error.__cause__ or error} (lists and tables are "
                "written as JSON)"
            ) from error
        except (OSError, ValueError) as error:
            raise ConfigError(f"scout.toml cannot be read: {error}") from error

    @property
    def database(self) -> str:
        """URL of the database; SQLite in the data folder unless set."""
        return self.database_url or f"sqlite:///{self.data_dir / 'scout.db'}"

    @property
    def bodies(self) -> str:
        """Place of page bodies, any fsspec URL; a folder in the data folder unless set."""
        return self.bodies_url or str(self.data_dir / "bodies")
