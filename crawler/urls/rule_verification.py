"""Verification of canonical rules: try the original link when a rule's replacement is missing.

If the original is missing too, the link was broken and the rule is not to blame. If it exists, the
rule was wrong, and from then on the original of every missing replacement is tried. A rule that is
wrong too often is revoked. Only a few trials of a rule are open at a time; one whose page fails is
replaced by another.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from catalog.models import PageState
from catalog.storage.frontier import FetchOutcome, FrontierLink
from crawler.config import DEFAULT_CONFIG, CrawlConfig
from crawler.urls.canonical_rules import RuleKey

RETRIED_SOURCE = "again"  # stored as the page's source: an original link that is tried after all
RETRIED_PRIORITY = 80  # before all that pages link to: the verdict decides about many links


@dataclass(frozen=True)
class ReplacedLink:
    """A link that a rule replaced by its canonical address.

    `page_id` is its row, None where it has none.
    """

    url: str
    rule: RuleKey
    page_id: int | None = None

    def as_due(self) -> FetchOutcome | FrontierLink:
        """Make the link due at once: its row if it has one, else a new link."""
        if self.page_id is None:
            return FrontierLink(self.url, RETRIED_SOURCE, RETRIED_PRIORITY)
        columns = {
            "reason": None,
            "canonical": None,
            "source": RETRIED_SOURCE,
            "priority": RETRIED_PRIORITY,
        }
        return FetchOutcome(self.page_id, PageState.PENDING, columns)


class RuleVerifier:
    """Tracks the links that rules replaced; `revoked` are the rules found wrong."""

    def __init__(self, config: CrawlConfig = DEFAULT_CONFIG) -> None:
        self._config = config
        self.revoked: set[RuleKey] = set()
        self._replaced_by: dict[str, ReplacedLink] = {}
        self._trials: dict[str, ReplacedLink] = {}
        self._confirmed: Counter[RuleKey] = Counter()
        self._errors: Counter[RuleKey] = Counter()
        self._broken_links: Counter[RuleKey] = Counter()
        self._open_trials: Counter[RuleKey] = Counter()
        self._postponed: defaultdict[RuleKey, list[ReplacedLink]] = defaultdict(list)

    def record_replacement(self, original: ReplacedLink, replacement: str) -> None:
        """Note that a rule replaced a link by the URL `replacement`."""
        self._replaced_by.setdefault(replacement, original)

    def is_verified(self, rule: RuleKey) -> bool:
        """Return True if enough trials ended without an error.

        The originals of its missing replacements need no request.
        """
        return self._broken_links[rule] >= self._config.rule_trials and not self._errors[rule]

    def is_replacement_of(self, url: str, original: str) -> bool:
        """Return True if `url` was requested in place of the link `original`."""
        return url in self._replaced_by and self._replaced_by[url].url == original

    def restore(self, url: str) -> ReplacedLink | None:
        """Take back the replacement `url` if its rule has been revoked since.

        Returns the original link.
        """
        original = self._replaced_by.get(url)
        if original is None or original.rule not in self.revoked:
            return None
        return self._replaced_by.pop(url)

    def record_existing(self, url: str) -> list[ReplacedLink]:
        """Note that a page exists; returns the original links to try now."""
        if replaced := self._replaced_by.pop(url, None):
            self._confirmed[replaced.rule] += 1
        trial = self._trials.pop(url, None)
        if trial is None:
            return []
        rule = trial.rule
        self._errors[rule] += 1
        self._open_trials[rule] -= 1
        error_limit = self._config.rule_error_share * self._confirmed[rule]
        if self._errors[rule] >= self._config.rule_errors and self._errors[rule] > error_limit:
            self.revoked.add(rule)
        # One error is enough to try every link that waited for the verdict.
        return [self._start_trial(original) for original in self._postponed.pop(rule, [])]

    def record_missing(self, url: str) -> list[ReplacedLink]:
        """Note that a page is missing; returns the original links to try now."""
        if trial := self._trials.pop(url, None):
            self._broken_links[trial.rule] += 1
            self._open_trials[trial.rule] -= 1
        original = self._replaced_by.pop(url, None)
        if original is None:
            return []
        rule = original.rule
        trials = self._config.rule_trials
        if self._errors[rule] or self._open_trials[rule] + self._broken_links[rule] < trials:
            return [self._start_trial(original)]
        if self._broken_links[rule] < trials:
            self._postponed[rule].append(original)
        return []

    def record_unresolved(self, url: str) -> list[ReplacedLink]:
        """Close the trial of an original link that gave no verdict: it failed, or leads elsewhere.

        Returns the next link that waited for the verdict, to be tried in its place.
        """
        trial = self._trials.pop(url, None)
        if trial is None:
            return []
        self._open_trials[trial.rule] -= 1
        waiting = self._postponed[trial.rule]
        return [self._start_trial(waiting.pop(0))] if waiting else []

    def is_on_trial(self, url: str) -> bool:
        """Return True if an original link is tried, and the verdict is open."""
        return url in self._trials

    def _start_trial(self, original: ReplacedLink) -> ReplacedLink:
        self._trials[original.url] = original
        self._open_trials[original.rule] += 1
        return original
