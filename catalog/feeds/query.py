"""A SQL query on the catalog's own database: `DATABASE-URL::SELECT ...`, its columns named like a feed's.

`sqlite:///catalog.db::SELECT id, name AS title, deeplink AS link FROM offers WHERE shop = 7`
"""

import re
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from catalog.errors import UnreadableFeed, UsageError
from catalog.feeds.rows import Row, Rows, flat

_FORM = re.compile(
    r"\s*(?P<url>\w[\w+]*://.*?)::\s*(?P<query>(?:select|with)\b.*)", re.IGNORECASE | re.DOTALL
)


def is_query(source: str) -> bool:
    """Whether the source has this form.

    >>> is_query("sqlite:///c.db::SELECT * FROM offers"), is_query("https://c.example/offers")
    (True, False)
    """
    return _FORM.fullmatch(source) is not None


def shown(source: str) -> str:
    """The source without a password in it."""
    url, query = _parts(source)
    return f"{url.render_as_string(hide_password=True)}::{query}"


def read(source: str) -> Rows:
    """The rows of the query, read and never written. Raises UsageError for another form, UnreadableFeed."""
    url, query = _parts(source)
    name = url.render_as_string(hide_password=True)
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).is_file():
        raise UnreadableFeed(f"{name}: there is no such database")
    try:
        engine = create_engine(url)
        with engine.connect() as connection:
            if url.get_backend_name() == "sqlite":
                connection.exec_driver_sql("PRAGMA query_only=ON")
            result = connection.execution_options(stream_results=True).execute(
                text(query).execution_options(no_parameters=True)
            )
            for position, values in enumerate(result.yield_per(1000).mappings(), 1):
                yield Row(position, flat(dict(values)))
        engine.dispose()
    except (SQLAlchemyError, ImportError) as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise UnreadableFeed(
            f"{name}: the query fails: {said[0] if said else type(error).__name__}"
        ) from error


def _parts(source: str) -> tuple[URL, str]:
    form = _FORM.fullmatch(source)
    if form is None:
        raise UsageError(
            f"{source!r} is no query: write a database's URL, two colons and a query, as in sqlite:///x.db::SELECT ..."
        )
    try:
        return make_url(form["url"]), form["query"]
    except ArgumentError as error:
        raise UsageError(f"{form['url']!r} is no database URL, such as sqlite:///x.db") from error
