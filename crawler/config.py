"""Thresholds by which a crawl decides which links it fetches, how fast, and when it stops.

They are one frozen value, so that an evaluation can vary them: `LinkFilter`, `Throttle` and
`CircuitBreaker` take it. Bounds on memory and on hostile input are constants of the modules that
need them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class CrawlConfig:
    """Thresholds of one crawl.

    Counts are in pages or links, times in seconds, unless a comment says otherwise.
    """

    # Canonical rules (crawler.urls.canonical_rules)
    canonical_agreeing_pages: int = 5  # pages that must support a rule, with none against it
    canonical_compared_titles: int = 2  # page pairs that must show the same title
    canonical_new_link_ratio: int = 4  # agreeing pages per page that brought new links
    title_overlap: float = 0.6  # share of the shorter title's words that two titles share

    # Verification of canonical rules (crawler.urls.rule_verification)
    rule_trials: int = 5  # original links tried at a time, and to trust a rule
    rule_errors: int = 3  # wrong replacements before a rule is revoked
    rule_error_share: float = 0.25  # wrong per right replacement, above which it is revoked

    # Session ids in paths (crawler.urls.session_ids)
    session_pages: int = 3  # pages that must show a new id each
    session_links: int = 3  # links with that id on such a page

    # Traps (crawler.filters.traps)
    max_barren_chain: int = 12  # barren hops of one shape, each linked by the page before
    max_barren_pages: int = 40  # barren pages in a row of one family
    min_same_shape: int = 10  # fetched pages of a shape before its family is closed
    max_barren_views: int = 20  # fruitless filtered views of one list in a row
    max_list_views: int = 200  # filtered views of one list, fruitful or not
    single_filter_share: float = 0.5  # fruitless single filters per page fetched so far

    # Near-duplicate pages (crawler.filters.near_duplicates)
    duplicates_to_postpone: int = 60  # pages in a row with the title of their referrer
    duplicates_to_refuse: int = 100

    # Dead links (crawler.filters.dead_links)
    dead_links_to_postpone: int = 6  # missing pages of one link pattern, with none that exists
    dead_links_to_refuse: int = 12

    # Circuit breaker (crawler.fetch.circuit_breaker)
    failures_to_stop: int = 30  # refusals, or silences, in a row
    captchas_to_stop: int = 5  # in a row: a captcha is never a single page's fault
    login_walls_to_stop: int = 10

    # Throttle (crawler.frontier.throttle)
    slow_latency: float = 0.5  # answers that take longer slow the crawl down
    max_crawl_delay: float = 60.0  # cap: a longer Crawl-delay of robots.txt counts as this
    max_adaptive_delay: float = 10.0  # cap: slower than this only where robots.txt asks for it
    first_backoff: float = 0.25  # delay after the first 429 or 503 of an undelayed crawl
    recovery_factor: float = 0.8  # of the delay, after each quick answer
    parallel_answers: int = 4  # answers awaited at a time from a slow shop

    # Dispatcher (crawler.spider): with a long delay, leased pages would only wait
    slow_delay: float = 0.5  # from this delay on, few pages are leased at a time
    slow_in_flight: int = 2  # pages leased at a time then


DEFAULT_CONFIG = CrawlConfig()
