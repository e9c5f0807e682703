"""Import optional libraries on first use, with a one-line hint on how to install them."""

from importlib import import_module
from typing import Any

from catalog.errors import ConfigError


def import_optional(name: str, extra: str = "") -> Any:
    """Import a module that may be missing. Raises ConfigError naming the extra that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"{name} is not installed: pip install 'scout-offer-gaps[{extra or name}]'"
        ) from error
