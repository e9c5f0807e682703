"""How a shop's links are cleaned: with its own tracking keys, and with the lists of links that the settings name."""

from collections.abc import Callable
from functools import partial

from catalog.errors import ConfigError
from catalog.links.tracking_params import own_keys
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from url_cleaner.clean import Cleaned, clean
from url_cleaner.knowledge.lists import Lists, load

Clean = Callable[[str], Cleaned]


def lists_of(settings: Settings) -> Lists | None:
    """The lists that the settings name, read; None where they name none. Raises ConfigError."""
    if not settings.link_lists:
        return None
    try:
        return load(settings.link_lists)
    except ImportError as error:
        raise ConfigError(
            "setting 'link_lists' needs RE2: pip install 'scout-offer-gaps[lists]'"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"setting 'link_lists': {error}") from error


def cleaner(settings: Settings, store: Store, shop: Shop, follow: bool = False) -> Clean:
    """The function that cleans this shop's links; with `follow` it asks where opaque ones lead, a click each."""
    own, lists = own_keys(store, shop.id or 0).tracking, lists_of(settings)
    if follow:
        from url_cleaner.follow import resolved

        return partial(
            resolved, home=shop.url, own=own, lists=lists, allow_private=shop.allow_private
        )
    return partial(clean, home=shop.url, own=own, lists=lists)
