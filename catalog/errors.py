"""The tree of errors that Scout raises. Each message names the problem, the place and the remedy.

ScoutError
├── UsageError                  a command's arguments are wrong
│   └── UnknownShop             no shop of that name is stored
├── ConfigError                 a setting cannot be used
├── FeedError                   known offers cannot be read
│   ├── UnreadableFeed          the source is missing, or not in the named format
│   └── MissingFields           the source lacks a field that Scout needs
├── StoreError                  the database or the page store cannot be used
│   ├── SchemaOutdated          the database is older than this Scout
│   ├── SchemaTooNew            the database was written by a newer Scout
│   ├── StorageFull             no space is left
│   └── LeaseLost               another process has taken over what this one was doing
├── BodiesUnreachable           a remote page store cannot be reached, or refuses to answer
├── CrawlError                  the crawl fetched no usable page
│   ├── UnreachableShop         no connection to the shop
│   ├── BlockedShop             the shop answers with errors or captchas only
│   └── NeedsBrowser            the shop's pages are empty without JavaScript
├── LearnError                  no rules can be learnt
│   └── NoKnownOffers           the catalog has no offer of this shop
├── RuleError                   a rule or selector is not well formed
│   └── RulesChanged            somebody has stored newer rules than those that were changed
├── HostilePage                 a page built to be slow to parse, or oversized
├── WorkerError                 worker processes die before they start working
├── BadUrl                      not an http(s) URL (raised by url_cleaner, also a ValueError)
└── Busy                        another process runs the same shop, or imports its offers
"""

from url_cleaner.errors import BadUrl as BadUrl

# Characters of another library's message that a message of Scout quotes.
MAX_QUOTED_LENGTH = 200


class ScoutError(Exception):
    """Root of the tree: catches every error that Scout raises."""


class UsageError(ScoutError):
    """A command's arguments are wrong."""


class UnknownShop(UsageError):
    """No shop of that name is stored."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no shop is called {name!r}: 'scout shop list' shows all, 'scout shop add' adds one"
        )


class ConfigError(ScoutError):
    """A setting cannot be used."""


class FeedError(ScoutError):
    """Known offers cannot be read."""


class UnreadableFeed(FeedError):
    """The source is missing, or not in the named format."""


class MissingFields(FeedError):
    """The source lacks a field that Scout needs."""


class StoreError(ScoutError):
    """The database or the page store cannot be used."""


class SchemaOutdated(StoreError):
    """The database is older than this Scout."""


class SchemaTooNew(StoreError):
    """The database was written by a newer Scout."""


class StorageFull(StoreError):
    """No space is left."""


class LeaseLost(StoreError):
    """Another process has taken over what this one was doing: it may not write any more."""


class BodiesUnreachable(ScoutError):
    """A remote page store cannot be reached, or refuses to answer.

    No StoreError: a page whose body cannot be read now is neither missing nor damaged.
    """


class CrawlError(ScoutError):
    """The crawl fetched no usable page."""


class UnreachableShop(CrawlError):
    """No connection to the shop."""


class BlockedShop(CrawlError):
    """The shop answers with errors or captchas only."""


class NeedsBrowser(CrawlError):
    """The shop's pages are empty without JavaScript."""


class LearnError(ScoutError):
    """No rules can be learnt."""


class NoKnownOffers(LearnError):
    """The catalog has no offer of this shop."""


class RuleError(ScoutError):
    """A rule or selector is not well formed."""


class RulesChanged(RuleError):
    """Somebody has stored newer rules than those that were changed."""


class WorkerError(ScoutError):
    """Worker processes die before they start working; the message states the reason."""


class HostilePage(ScoutError):
    """A page built to be slow to parse, or oversized; the message states its defect."""


class Busy(ScoutError):
    """Another process runs the same shop, or imports its offers."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, to be quoted in another; without a message the
    name of its class.

    >>> first_line(ValueError("no number\\nin line 3")), first_line(TimeoutError())
    ('no number', 'TimeoutError')
    """
    lines = str(error).strip().splitlines()
    return lines[0][:MAX_QUOTED_LENGTH] if lines else type(error).__name__
