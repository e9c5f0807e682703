"""Canonical rules of a shop: which parts of an address may be dropped, learnt from canonical links.

Every page under `/collections/x/products/h.html` may name `/products/h` as its canonical address,
and `?variant=1` the page without it. A rule is trusted after five agreeing pages, no
counterexample, and two comparisons in which both addresses showed the same title. The canonical
address is then computed from the link, and the detour is not requested.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.urls.crawl_url import PAGE_KEY, CrawlUrl

MAX_TITLES = 50_000  # bound: memory of a crawl over an endless shop
ENDINGS = (".html", ".htm", ".php", ".aspx")  # file endings that shops add and leave out
PLAIN = "plain"  # form: the ending of the address stays
DROPPED = "dropped"  # form: the ending is removed
WORD = re.compile(r"\w+")

# Names a rule by everything that its addresses share: ("key", NAME) drops a query key,
# ("path", FIRST_SEGMENT, SEGMENTS, DROPPED, NEXT_SEGMENT) leading segments,
# ("ending", ...) the file ending.
RuleKey = tuple[str, ...]


@dataclass(frozen=True)
class CanonicalForms:
    """Canonical addresses of a link: several where the rules leave the ending open.

    `rule` is () without a rule.
    """

    addresses: tuple[CrawlUrl, ...]
    rule: RuleKey = ()


class CanonicalRules:
    """Rules `detour -> canonical` of one shop, with the pages that support and contradict them."""

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self._agreeing: Counter[RuleKey] = Counter()
        self._with_new_links: Counter[RuleKey] = Counter()
        self._compared: Counter[RuleKey] = Counter()
        self._refuted: set[RuleKey] = set()
        self._titles: dict[str, str] = {}
        self._expected: dict[str, list[tuple[RuleKey, str]]] = {}
        self._expected_count = 0

    def observe(
        self, page: CrawlUrl, canonical: CrawlUrl | None, title: str, has_new_links: bool
    ) -> None:
        """Learn from one page and its canonical address.

        Many shops name the first page of a list as canonical for all its pages. So a query key
        whose pages have new links counts as needed, not as agreeing.
        """
        if len(self._titles) < MAX_TITLES:
            self._titles[page.page_key] = title
        expected = self._expected.pop(page.page_key, ())
        self._expected_count -= len(expected)
        for rule, detour_title in expected:
            self._compare_titles(rule, detour_title, title)
        if canonical is None:
            return
        for rule in self._supported_rules(page, canonical, has_new_links):
            if canonical.page_key in self._titles:
                self._compare_titles(rule, self._titles[canonical.page_key], title)
            elif self._expected_count < MAX_TITLES:
                self._expected_count += 1
                self._expected.setdefault(canonical.page_key, []).append((rule, title))

    def canonical_forms(self, address: CrawlUrl) -> CanonicalForms:
        """Apply the trusted rules to a link; the link itself where none applies."""
        used: RuleKey = ()
        for name in dict(address.sorted_query):
            rule: RuleKey = ("key", name)
            if self.is_trusted(rule):
                address, used = _without_key(address, name), rule
        if address.sorted_query:
            return CanonicalForms((address,), used)
        for rule in path_rules(address):
            if self.is_trusted(rule) and (forms := self._seen_forms(address, rule)):
                shortened = tuple(_apply(address, rule, form) for form in forms)
                return CanonicalForms(shortened, (*rule, forms[0], _ending(address)))
        return CanonicalForms((address,), used)

    def is_trusted(self, rule: RuleKey) -> bool:
        """Return True if enough pages support the rule and none contradicts it."""
        if not rule or rule in self._refuted:
            return False
        needed = max(
            self._config.canonical_agreeing_pages,
            self._config.canonical_new_link_ratio * self._with_new_links[rule],
        )
        has_compared = self._compared[rule] >= self._config.canonical_compared_titles
        return self._agreeing[rule] >= needed and has_compared

    def explains(self, page: CrawlUrl, canonical: CrawlUrl) -> bool:
        """Return True if a trusted rule maps the page to this address: both show the same."""
        return any(
            canonical.page_key == form.page_key for form in self.canonical_forms(page).addresses
        )

    def refute(self, rule: RuleKey) -> None:
        """Discard a rule that named a missing page for one that exists."""
        self._refuted.add(rule)

    def is_detour(self, address: CrawlUrl) -> bool:
        """Return True if a page of the same kind has named another address as canonical."""
        for rule in path_rules(address):
            if self._agreeing[rule] and rule not in self._refuted:
                return True
        return False

    def _seen_forms(self, address: CrawlUrl, rule: RuleKey) -> list[str]:
        forms = _forms(address, rule)
        seen = [form for form in forms if self._agreeing[(*rule, form)]] or [PLAIN]
        ending = _ending(address)
        return [form for form in seen if (*rule, form, ending) not in self._refuted]

    def _supported_rules(
        self, page: CrawlUrl, canonical: CrawlUrl, has_new_links: bool
    ) -> list[RuleKey]:
        """Count a page for the rules that explain its canonical address.

        Refute those that contradict it.
        """
        if page.sorted_query or canonical.sorted_query:
            return self._supported_query_rules(page, canonical, has_new_links)
        supported: list[RuleKey] = []
        for rule in path_rules(page):
            form = _matching_form(page, rule, canonical)
            if form is not None:
                self._agreeing.update([rule, (*rule, form)])
                supported.append(rule)
            elif _contradicts(page, rule, canonical):
                self._refuted.add(rule)
        return supported

    def _supported_query_rules(
        self, page: CrawlUrl, canonical: CrawlUrl, has_new_links: bool
    ) -> list[RuleKey]:
        if page.path != canonical.path:
            return []
        canonical_keys = dict(canonical.sorted_query)
        dropped = [name for name in dict(page.sorted_query) if name not in canonical_keys]
        for name, _ in page.sorted_query:
            # A list's later pages differ from the first one, whatever their canonical link says.
            if name not in dropped or PAGE_KEY.match(name):
                self._refuted.add(("key", name))
        rules: list[RuleKey] = [("key", name) for name in dropped]
        if has_new_links:
            self._with_new_links.update(rules)
        else:
            self._agreeing.update(rules)
        return rules

    def _compare_titles(self, rule: RuleKey, first: str, second: str) -> None:
        if are_similar_titles(first, second, self._config.title_overlap):
            self._compared[rule] += 1
        else:
            self._refuted.add(rule)


def are_similar_titles(
    first: str, second: str, overlap: float = DEFAULT_CONFIG.title_overlap
) -> bool:
    """Return True if two titles can belong to one page.

    They share `overlap` of the shorter one's words.

    >>> are_similar_titles("Blue Bike - Shop", "Blue Bike - Bikes - Shop")
    True
    >>> are_similar_titles("Blue Bike - Shop", "All bikes - Shop")
    False
    """
    first_words = set(WORD.findall(first.lower()))
    second_words = set(WORD.findall(second.lower()))
    shorter = max(1, min(len(first_words), len(second_words)))
    return len(first_words & second_words) >= overlap * shorter


def path_rules(address: CrawlUrl) -> list[RuleKey]:
    """List the rules that could apply to a path, named by the parts that its kind of paths shares.

    >>> path_rules(CrawlUrl.parse("https://a.de/collections/x/products/h.html"))[2:]
    [('path', 'collections', '4', '3', ''), ('ending', 'collections', '4', '0', '')]
    """
    segments = _raw_segments(address)
    last = len(segments) - 1
    first = segments[0] if last > 0 else ""
    count = str(len(segments))
    rules: list[RuleKey] = []
    for dropped in range(1, last + 1):
        # The last segment names the page itself, so it is no part of the kind.
        next_segment = segments[dropped] if dropped < last else ""
        rules.append(("path", first, count, str(dropped), next_segment))
    if _ending(address):
        rules.append(("ending", first, count, "0", ""))
    return rules


def _matching_form(page: CrawlUrl, rule: RuleKey, canonical: CrawlUrl) -> str | None:
    """Find the form in which a rule maps the page to its canonical address."""
    for form in _forms(page, rule):
        if _apply(page, rule, form).page_key == canonical.page_key:
            return form
    return None


def _contradicts(page: CrawlUrl, rule: RuleKey, canonical: CrawlUrl) -> bool:
    """Return True unless the canonical address is the rule's result with another ending.

    A page without an ending that names an address with one is no evidence for or against dropping
    segments.
    """
    if rule[0] == "ending":
        return True
    return _without_ending(_apply(page, rule, PLAIN)) != _without_ending(canonical)


def _forms(address: CrawlUrl, rule: RuleKey) -> tuple[str, ...]:
    if not _ending(address):
        return (PLAIN,)
    if rule[0] == "ending":
        return (DROPPED,)
    return (PLAIN, DROPPED)


def _apply(address: CrawlUrl, rule: RuleKey, form: str) -> CrawlUrl:
    segments = _raw_segments(address)[int(rule[3]) :]
    path = "/" + "/".join(segments)
    if address.path.endswith("/"):
        path += "/"
    if form == DROPPED:
        path = path[: -len(_ending(address))]
    return replace(address, path=path, query="", fragment="")


def _without_ending(address: CrawlUrl) -> str:
    return address.path.removesuffix(_ending(address))


def _ending(address: CrawlUrl) -> str:
    path = address.path.lower()
    for ending in ENDINGS:
        if path.endswith(ending):
            return ending
    return ""


def _without_key(address: CrawlUrl, name: str) -> CrawlUrl:
    """Drop a query key; the other pairs stay as they are written, in any encoding."""
    pairs = address.query.split("&")
    query = "&".join(pair for pair in pairs if unquote_plus(pair.partition("=")[0]) != name)
    return replace(address, query=query)


def _raw_segments(address: CrawlUrl) -> list[str]:
    """Split the path without decoding it: it is requested as it was linked."""
    return [part for part in address.path.split("/") if part]
