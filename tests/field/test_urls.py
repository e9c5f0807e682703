"""Links as feeds and pages write them; each line is a link."""

from tests.field.field_cases import FieldCase, each_case, limited_time
from url_cleaner.cleaner import clean_url
from url_cleaner.errors import BadUrl
from url_cleaner.urls.public_address import is_public


def clean(link: str, home: str) -> str | None:
    """Clean a link; returns the error's name where it is none."""
    try:
        return clean_url(link, home=home).url
    except BadUrl:
        return "BadUrl"


@each_case("urls")
def test_links(case: FieldCase) -> None:
    """Each link is cleaned to the expected one, or to one of several."""
    wrong = {}
    for link, expected in zip(case.lines, case.expected["values"], strict=True):
        with limited_time():
            cleaned = clean(link, case.expected["home"])
        if cleaned not in (expected if isinstance(expected, list) else [expected]):
            wrong[link] = (cleaned, expected)
    assert wrong == {}


@each_case("addresses")
def test_addresses(case: FieldCase) -> None:
    """An address is public or not, on any version of Python."""
    found = {address: is_public(address) for address in case.lines}
    assert found == dict(zip(case.lines, case.expected["values"], strict=True))
