"""Languages: counts, shares, money and times in the reader's form, and texts that fall back to English."""

from datetime import UTC, datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from catalog.language.languages import ENGLISH, load_language

GERMAN = load_language("de")
MOMENT = datetime(2026, 3, 9, 23, 5, tzinfo=UTC)

CASES = [
    (GERMAN.count(1234567), "1.234.567"),
    (ENGLISH.count(1234567), "1,234,567"),
    (GERMAN.share(0.2175), "21,8 %"),
    (GERMAN.share(1.0), "100 %"),
    (GERMAN.share(0.00001), "<0,1 %"),
    (GERMAN.change(-0.125), "−12,5 %"),
    (GERMAN.money(Decimal("1299.9"), "EUR"), "1.299,90 €"),
    (GERMAN.money(Decimal(1300), "EUR"), "1.300 €"),
    (GERMAN.price(Decimal(1300), "CHF"), "1.300,00 CHF"),
    (ENGLISH.price(Decimal("0.5"), "CHF"), "CHF 0.50"),
    (ENGLISH.price(Decimal("0.5"), "USD"), "$0.50"),
    # A currency without cents still shows what the page shows.
    (GERMAN.price(Decimal("12.5"), "JPY"), "12,50 ¥"),
    # A text that is no currency is shown as it is.
    (GERMAN.price(Decimal("12.5"), "Taler"), "12,50 Taler"),
    (ENGLISH.price(Decimal("12.5"), None), "12.50"),
    (ENGLISH.price(Decimal("1e11"), "EUR"), "€100,000,000,000.00"),
    (GERMAN.totals({"USD": Decimal(20), "EUR": Decimal(700)}, "EUR"), "700 € + 20 $"),
    (ENGLISH.totals({}, "EUR"), "–"),
    (
        GERMAN.totals({code: Decimal(1) for code in ("CHF", "EUR", "GBP", "SEK", "USD")}, "EUR"),
        "1 € + 1 CHF + 1 £ + 2 weitere Währungen",
    ),
    (GERMAN.date(MOMENT), "9. März 2026"),
    (GERMAN.minute(MOMENT), "9. März 2026, 23:05 UTC"),
    (ENGLISH.minute(MOMENT), "9 March 2026, 23:05 UTC"),
    (load_language("de", ZoneInfo("Europe/Berlin")).minute(MOMENT), "10. März 2026, 00:05 MEZ"),
    (load_language("en", ZoneInfo("Europe/Berlin")).minute(MOMENT), "10 March 2026, 00:05 CET"),
    (GERMAN.date(None), "unbekanntes Datum"),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[expected for _, expected in CASES])
def test_formats(text: str, expected: str) -> None:
    """Numbers, money and times stand as readers of the language write them."""
    assert text.replace("\N{NO-BREAK SPACE}", " ") == expected


def test_texts() -> None:
    """A message is translated, with its plural; any other text stays as it is."""
    assert GERMAN.gettext("missing") == "fehlend"
    assert GERMAN.gettext("Lamp {no} message") == "Lamp {no} message"
    assert GERMAN.gettext("") == ""
    forms = "{number} page failed to load.", "{number} pages failed to load."
    assert GERMAN.ngettext(*forms, 1).startswith("{number} Seite konnte")
    assert GERMAN.ngettext(*forms, 0).startswith("{number} Seiten konnten")
    assert ENGLISH.ngettext(*forms, 0) == forms[1]


def test_an_unknown_language_is_an_error() -> None:
    """A language that Scout does not write is refused, with the choice there is."""
    with pytest.raises(ValueError, match="choose from en, de"):
        load_language("xx")
