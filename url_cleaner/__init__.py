"""Undo redirects and strip tracking parameters from offer links without visiting them.

>>> from url_cleaner import clean_url
>>> clean_url("https://shop.example.com/p?id=7&utm_source=portal").url
'https://shop.example.com/p?id=7'

Public names are loaded on first use (`lazy_loader`), so that importing a sub-module stays cheap.
"""

from typing import TYPE_CHECKING

# Both branches hold the same names, which a test checks: type checkers do not know lazy_loader.
if TYPE_CHECKING:
    from url_cleaner.cleaner import CleanedUrl as CleanedUrl
    from url_cleaner.cleaner import clean_url as clean_url
    from url_cleaner.cleaner import is_clean as is_clean
    from url_cleaner.cleaner import is_same_site as is_same_site
    from url_cleaner.errors import BadUrl as BadUrl
    from url_cleaner.evaluation import Evaluation as Evaluation
    from url_cleaner.evaluation import evaluate_urls as evaluate_urls
    from url_cleaner.knowledge.filter_lists import FilterLists as FilterLists
    from url_cleaner.knowledge.filter_lists import load_filter_lists as load_filter_lists
    from url_cleaner.knowledge.shop_keys import ShopKeys as ShopKeys
    from url_cleaner.knowledge.shop_keys import Visit as Visit
    from url_cleaner.knowledge.shop_keys import learn_keys as learn_keys
    from url_cleaner.resolver import resolve_url as resolve_url
    from url_cleaner.urls.url import Url as Url
    from url_cleaner.urls.url import join_url as join_url
    from url_cleaner.urls.url import url_key as url_key
else:
    import lazy_loader

    __getattr__, __dir__, __all__ = lazy_loader.attach(
        __name__,
        submod_attrs={
            "cleaner": ["CleanedUrl", "clean_url", "is_clean", "is_same_site"],
            "errors": ["BadUrl"],
            "evaluation": ["Evaluation", "evaluate_urls"],
            "knowledge.filter_lists": ["FilterLists", "load_filter_lists"],
            "knowledge.shop_keys": ["ShopKeys", "Visit", "learn_keys"],
            "resolver": ["resolve_url"],
            "urls.url": ["Url", "join_url", "url_key"],
        },
    )
