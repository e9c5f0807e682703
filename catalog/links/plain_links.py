"""Plain links of a shop, cleaned without taking each one apart.

Nearly all links of a catalog lead to the shop itself, with query keys that come again and again. So
each key is judged once, by cleaning a link that has it, and a link of known keys is put together
from its parts. A key that the cleaner removes beside a value without meaning tracks beside any
value; one that it keeps is taken for kept only beside short numbers, since longer values may be
session ids, and words the names of channels. All other links go to the cleaner. A test compares the
results.
"""

import re
from collections.abc import Callable

from url_cleaner.cleaner import CleanedUrl
from url_cleaner.errors import BadUrl
from url_cleaner.knowledge.networks import load_network_data
from url_cleaner.urls.domains import host_patterns
from url_cleaner.urls.url import Url

# A function that cleans the links of one shop.
UrlCleaner = Callable[[str], CleanedUrl]

# Query keys and roots that are remembered, and keys of one link. Bounds against hostile input.
MAX_KEYS = 1_000
MAX_ROOTS = 20
MAX_KEYS_IN_LINK = 20
# Characters of a plain link.
MAX_LENGTH = 1_000

_PARAMETER = r"[\w.-]{1,40}=[\w.~%+-]*+"
_PLAIN_LINK = re.compile(
    rf"(https?://[a-z0-9.-]+(?::\d+)?)(/[\w.~/%+-]*+)(?:\?({_PARAMETER}(?:&{_PARAMETER})*+))?",
    re.ASCII,
)
_SHORT_NUMBER = re.compile(r"[0-9]{1,12}")
# A value that names nothing.
_PROBE_VALUE = "7"


class PlainLinkCleaner:
    """Cleaner of one shop's links, which hands all that are not plain to another one."""

    def __init__(self, home: str, clean: UrlCleaner) -> None:
        self._home = home
        self._clean = clean
        self._redirectors = load_network_data().redirectors | load_network_data().redirects
        # Whether the links of a root are the shop's own, and hold nothing but pages.
        self._is_shop_root: dict[str, bool] = {}
        # Reasons for the removal of keys, by key; None for those that are kept.
        self._reason_of_key: dict[str, str | None] = {}

    def __call__(self, link: str) -> CleanedUrl:
        """Clean a link. Raises BadUrl where it is no http(s) URL."""
        return self._clean_plain(link) or self._clean(link)

    def _clean_plain(self, link: str) -> CleanedUrl | None:
        """Clean a plain link; None where it is not plain."""
        match = _PLAIN_LINK.fullmatch(link) if len(link) <= MAX_LENGTH else None
        if match is None:
            return None
        root, path, query = match.groups()
        if not self._is_own(root) or self._may_redirect(path):
            return None
        if query is None:
            return CleanedUrl(link, link, (), (), opaque=False)
        judged = self._judge_query(root, query)
        if judged is None:
            return None
        retained, removed = judged
        url = f"{root}{path}?{'&'.join(retained)}" if retained else f"{root}{path}"
        return CleanedUrl(link, url, (), tuple(removed), opaque=False)

    def _judge_query(self, root: str, query: str) -> tuple[list[str], list[str]] | None:
        """Return the parameters that stay, and a reason for each removed parameter; None where a
        parameter needs the cleaner.
        """
        retained: list[str] = []
        removed: list[str] = []
        params = query.split("&", MAX_KEYS_IN_LINK)
        if len(params) > MAX_KEYS_IN_LINK:
            return None
        for param in params:
            key, _, value = param.partition("=")
            if key not in self._reason_of_key and not self._judge_key(root, key):
                return None
            reason = self._reason_of_key[key]
            if reason is not None:
                removed.append(reason)
            elif _SHORT_NUMBER.fullmatch(value):
                retained.append(param)
            else:
                return None
        return retained, removed

    def _is_own(self, root: str) -> bool:
        if root not in self._is_shop_root:
            if len(self._is_shop_root) >= MAX_ROOTS:
                return False
            self._is_shop_root[root] = _is_shop_root(root, self._home)
        return self._is_shop_root[root]

    def _may_redirect(self, path: str) -> bool:
        """Return True if the first or last segment of a path has the name of a redirector."""
        segments = path.lower().strip("/").split("/")
        for segment in (segments[0], segments[-1]):
            if segment.partition(".")[0] in self._redirectors:
                return True
        return False

    def _judge_key(self, root: str, key: str) -> bool:
        """Judge a key by cleaning a link that has it; returns False where that shows nothing."""
        if len(self._reason_of_key) >= MAX_KEYS:
            return False
        link = f"{root}/a/b?{key}={_PROBE_VALUE}"
        try:
            cleaned = self._clean(link)
        except BadUrl:
            return False
        if cleaned.opaque or cleaned.unwrapped or len(cleaned.removed) > 1:
            return False
        if cleaned.removed and cleaned.url == f"{root}/a/b":
            self._reason_of_key[key] = cleaned.removed[0]
        elif not cleaned.removed and cleaned.url == link:
            self._reason_of_key[key] = None
        return key in self._reason_of_key


def _is_shop_root(root: str, home: str) -> bool:
    """Return True if all links of a root are pages of the shop, without rules of their own."""
    data = load_network_data()
    try:
        url, shop = Url.parse(f"{root}/"), Url.parse(home)
    except BadUrl:
        return False
    if url.root != root or url.site != shop.site:
        return False
    names = list(host_patterns(url.host))
    return not any(name in data.wrappers or name in data.hosts for name in names)
