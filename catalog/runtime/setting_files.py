"""Settings in files of their own, as containers and systemd pass passwords.

`SCOUT_DATABASE_URL_FILE` names the file of `database_url`, and so for every setting. Without that
variable, the file `scout_database_url` is looked for in the folder of systemd's credentials
(`LoadCredential=`) and in `/run/secrets` (Docker, Podman, Kubernetes).
"""

import os
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from catalog.errors import ConfigError

# Folder in which container engines put secrets.
CONTAINER_SECRETS = Path("/run/secrets")
# Variable by which systemd names the folder of a unit's credentials.
CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
# Characters of a file that are read; no setting is longer.
MAX_SIZE = 100_000


class SettingFiles(PydanticBaseSettingsSource):
    """Source of settings that reads one file for each. Raises ConfigError."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        super().__init__(settings)
        self._folders = [CONTAINER_SECRETS] if CONTAINER_SECRETS.is_dir() else []
        if credentials := os.environ.get(CREDENTIALS_VARIABLE):
            folder = Path(credentials)
            if not folder.is_dir():
                # Without the database's URL, Scout would go on with an empty database of its own.
                raise ConfigError(
                    f"{folder} ({CREDENTIALS_VARIABLE}) is no folder: unset the variable, or let "
                    "systemd mount the credentials"
                )
            self._folders.insert(0, folder)

    def __call__(self) -> dict[str, Any]:
        """Return the settings that have a file."""
        values = {}
        for name, field in self.settings_cls.model_fields.items():
            value, _, is_complex = self.get_field_value(field, name)
            if value is not None:
                values[name] = self.prepare_field_value(name, field, value, is_complex)
        return values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return the content of a setting's file without the line end; None without a file."""
        variable = f"SCOUT_{field_name.upper()}"
        is_complex = self.field_is_complex(field)
        if file := os.environ.get(f"{variable}_FILE"):
            if variable in os.environ:
                raise ConfigError(f"{variable} and {variable}_FILE are both set: unset one of them")
            return _read(Path(file), f"{variable}_FILE"), field_name, is_complex
        for folder in self._folders:
            path = folder / variable.lower()
            # A folder stands there where a container engine was given a file that does not exist.
            if path.exists():
                return _read(path, str(folder)), field_name, is_complex
        return None, field_name, is_complex


def _read(path: Path, place: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            value = file.read(MAX_SIZE).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(f"{path} cannot be read ({place}): {reason}") from error
    if not value:
        # Without the database's URL, Scout would go on with an empty database of its own.
        raise ConfigError(f"{path} is empty ({place}): write the setting into it, or remove it")
    return value
