"""An SQL query on the catalog's own database: `DATABASE-URL::SELECT ...`, with columns named like a
feed's.

`sqlite:///catalog.db::SELECT id, name AS title, deeplink AS link FROM offers WHERE shop = 7`
"""

import re
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds.rows import Row, Rows, flatten

# Rows fetched from the database at once.
BATCH_SIZE = 1_000

_SOURCE = re.compile(
    r"\s*(?P<url>\w[\w+]*://.*?)::\s*(?P<query>(?:select|with)\b.*)", re.IGNORECASE | re.DOTALL
)


def is_query(source: str) -> bool:
    """Return True if the source has the form of a query.

    >>> is_query("sqlite:///c.db::SELECT * FROM offers"), is_query("https://c.example/offers")
    (True, False)
    """
    return _SOURCE.fullmatch(source) is not None


def without_password(source: str) -> str:
    """Return the source without a password."""
    url, query = _split(source)
    return f"{url.render_as_string(hide_password=True)}::{query}"


def read(source: str) -> Rows:
    """Yield the rows of a query, which cannot write.

    Raises UsageError for another form, UnreadableFeed.
    """
    url, query = _split(source)
    name = url.render_as_string(hide_password=True)
    is_sqlite = url.get_backend_name() == "sqlite"
    # SQLite would make an empty database of a wrong path.
    if is_sqlite and url.database and not Path(url.database).is_file():
        raise UnreadableFeed(f"{name}: there is no such database")
    try:
        # Without a pool the connection closes with its block, also after an error.
        engine = create_engine(url, poolclass=NullPool)
        with engine.connect() as connection:
            if is_sqlite:
                connection.exec_driver_sql("PRAGMA query_only=ON")
            statement = text(query).execution_options(no_parameters=True)
            result = connection.execution_options(stream_results=True).execute(statement)
            for position, values in enumerate(result.yield_per(BATCH_SIZE).mappings(), 1):
                yield Row(position, flatten(dict(values)))
    except (SQLAlchemyError, ImportError) as error:
        lines = str(getattr(error, "orig", None) or error).strip().splitlines()
        problem = lines[0] if lines else type(error).__name__
        raise UnreadableFeed(f"{name}: the query fails: {problem}") from error


def _split(source: str) -> tuple[URL, str]:
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise UsageError(
            f"{source!r} is no query: write a database's URL, two colons and a query, as in "
            f"sqlite:///x.db::SELECT ..."
        )
    try:
        return make_url(match["url"]), match["query"]
    except ArgumentError as error:
        raise UsageError(f"{match['url']!r} is no database URL, such as sqlite:///x.db") from error
