"""Cleaning of a shop's links: with its own tracking keys, and with the filter lists that the
settings name.
"""

from functools import partial

from catalog.errors import ConfigError
from catalog.links.plain_links import PlainLinkCleaner
from catalog.links.plain_links import UrlCleaner as UrlCleaner
from catalog.links.tracking_params import learn_shop_keys
from catalog.models import Shop
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from url_cleaner.cleaner import clean_url
from url_cleaner.knowledge.filter_lists import FilterLists, load_filter_lists


def load_configured_lists(settings: Settings) -> FilterLists | None:
    """Load the filter lists that the settings name; None where they name none. Raises
    ConfigError.
    """
    if not settings.link_lists:
        return None
    try:
        return load_filter_lists(settings.link_lists)
    except ImportError as error:
        raise ConfigError(
            "setting 'link_lists' needs RE2: pip install 'scout-offer-gaps[lists]'"
        ) from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"setting 'link_lists': {error}") from error


def make_cleaner(settings: Settings, store: Store, shop: Shop, follow: bool = False) -> UrlCleaner:
    """Make the function that cleans this shop's links.

    With `follow` it requests the target of opaque links: one click each, which may be billed.
    """
    shop_keys = learn_shop_keys(store, shop.id or 0).tracking
    lists = load_configured_lists(settings)
    clean = partial(clean_url, home=shop.url, shop_keys=shop_keys, lists=lists)
    # The patterns of lists look at whole links.
    if not follow and lists is None:
        return PlainLinkCleaner(shop.url, clean)
    if not follow:
        return clean
    # Imported late: it loads the HTTP client.
    from url_cleaner.resolver import resolve_url

    return partial(
        resolve_url,
        home=shop.url,
        shop_keys=shop_keys,
        lists=lists,
        allow_private=shop.allow_private,
    )
