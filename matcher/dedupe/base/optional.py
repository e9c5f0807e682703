"""Libraries that only some rungs need: asked for when they are, with one line on how to install them."""

from importlib import import_module
from typing import Any

from catalog.errors import ConfigError


def optional(name: str, extra: str = "") -> Any:
    """A module that may not be installed. Raises ConfigError, which names the extra that brings it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"{name} is not installed: pip install 'scout-offer-gaps[{extra or name}]'"
        ) from error
