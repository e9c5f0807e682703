"""The reasons for which runs end are recognised, so that they can be shown in German."""

from datetime import UTC
from pathlib import Path

import pytest

from catalog.errors import ScoutError
from catalog.language.languages import load_language
from catalog.models import PageState, Shop
from catalog.storage.store import Store
from crawler.crawler_group import _end_message
from crawler.fetch.circuit_breaker import CircuitBreaker
from crawler.fetch.response_status import CAPTCHA, LOGIN, ResponseStatus
from reports.statistics.run_reasons import translate_run_reason
from rules_generator.training.training_set import known_offers

GERMAN = load_language("de", UTC)


def blocked_message(reason: str) -> str:
    """Return the error of a shop that answers with one reason only."""
    breaker = CircuitBreaker("shop.example")
    for _ in range(1000):
        if error := breaker.record(ResponseStatus(PageState.FAILED, reason)):
            return str(error)
    raise AssertionError(f"{reason} does not stop a crawl")


@pytest.mark.parametrize(
    ("reason", "german"),
    [
        (CAPTCHA, "zeigt ein Captcha"),
        (LOGIN, "verlangt eine Anmeldung"),
        ("http 403", "antwortet nur mit"),
        ("timeout", "antwortet nicht mehr (keine rechtzeitige Antwort)"),
    ],
)
def test_shops_that_stop_a_crawl(reason: str, german: str) -> None:
    """The errors of the crawl, as it makes them, have German messages."""
    assert german in translate_run_reason(blocked_message(reason), GERMAN)


def test_errors_of_other_stages(store: Store, shop: Shop) -> None:
    """So have those of a shop without known offers, and of a crawler that was killed."""
    with pytest.raises(ScoutError) as missing:
        known_offers(store, shop)
    for reason in (str(missing.value), _end_message(-11, Path("crawl-1-1.log"))):
        shown = translate_run_reason(reason, GERMAN)
        assert shown not in ("", reason)


def test_other_texts() -> None:
    """Any other text, and none, stays as it is."""
    assert translate_run_reason("the disk is on fire", GERMAN) == "the disk is on fire"
    assert translate_run_reason(None, GERMAN) == ""
