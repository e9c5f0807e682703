"""Languages that Scout writes: English, which the code is written in, and the translated ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import cached_property
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO

from babel import Locale

from catalog.language import formats
from catalog.language.formats import UNKNOWN

SOURCE_LANGUAGE = "en"
TRANSLATED_LANGUAGES = ("de",)
LANGUAGES = (SOURCE_LANGUAGE, *TRANSLATED_LANGUAGES)
# Locale of dates: American English would put the month first.
_DATE_LOCALES = {"en": "en_GB"}

_MAX_CURRENCIES = 3  # totals written side by side: more do not fit into a table cell
_CENTS_BELOW = 100  # totals from here on are rounded to whole units
_CENT_DIGITS = 2
_ALMOST_ALL = 0.999  # shares beyond these two would be rounded to 100 % and 0 %
_ALMOST_NONE = 0.001


@dataclass(frozen=True, eq=False)
class Language:
    """Language of a reader, by its code of ISO 639, with its translations; times are in
    `time_zone`.

    Its formats of numbers are those of its locale. None is shown as a dash.
    """

    code: str
    translations: NullTranslations
    time_zone: tzinfo = UTC

    @cached_property
    def _locale(self) -> Locale:
        return formats.parse_locale(self.code)

    @cached_property
    def _date_locale(self) -> Locale:
        return formats.parse_locale(_DATE_LOCALES.get(self.code, self.code))

    @property
    def is_translated(self) -> bool:
        """True unless the texts are those of the code."""
        return type(self.translations) is not NullTranslations

    def gettext(self, message: str) -> str:
        """Return the translation of a message; the message itself if there is none."""
        # The empty message is the header of a catalog.
        return self.translations.gettext(message) if message else ""

    def ngettext(self, singular: str, plural: str, number: int) -> str:
        """Return the translation of a message in the form for a number."""
        return self.translations.ngettext(singular, plural, number)

    def count(self, number: int) -> str:
        """Format a count with its thousands separated.

        >>> ENGLISH.count(12345), load_language("de").count(12345)
        ('12,345', '12.345')
        """
        return formats.format_number(number, 0, self._locale)

    def decimal(self, number: Decimal | float, decimals: int = 2) -> str:
        """Format a number with a fixed number of decimals."""
        return formats.format_number(number, decimals, self._locale)

    def rate(self, rate: Decimal) -> str:
        """Format an exchange rate with the decimals that it has.

        >>> ENGLISH.rate(Decimal("0.920")), load_language("de").rate(Decimal(1))
        ('0.92', '1')
        """
        decimals = max(0, -int(rate.normalize().as_tuple().exponent))
        return formats.format_number(rate, decimals, self._locale)

    def share(self, share: float | None) -> str:
        """Format a share with one decimal; exactly 0 and 1 have none.

        >>> [ENGLISH.share(share) for share in (0.2175, 1.0, 0.9999, None)]
        ['21.8%', '100%', '>99.9%', '–']
        """
        if share is None:
            return UNKNOWN
        if share in (0, 1):
            return formats.format_share(share, 0, self._locale)
        if share > _ALMOST_ALL:
            return f">{formats.format_share(_ALMOST_ALL, 1, self._locale)}"
        if share < _ALMOST_NONE:
            return f"<{formats.format_share(_ALMOST_NONE, 1, self._locale)}"
        return formats.format_share(share, 1, self._locale)

    def change(self, share: float | None) -> str:
        """Format a relative change with its sign.

        >>> ENGLISH.change(-0.125), ENGLISH.change(0.0004)
        ('−12.5%', '+0.0%')
        """
        if share is None:
            return UNKNOWN
        sign = "−" if share < 0 else "+"
        return f"{sign}{formats.format_share(abs(share), 1, self._locale)}"

    def money(self, amount: Decimal | None, currency: str | None) -> str:
        """Format an amount with its currency, without cents if it has none.

        >>> ENGLISH.money(Decimal("1299.9"), "EUR"), ENGLISH.money(None, "EUR")
        ('€1,299.90', '–')
        >>> load_language("de").money(Decimal("1299.9"), "EUR").replace("\N{NO-BREAK SPACE}", " ")
        '1.299,90 €'
        """
        if amount is None:
            return UNKNOWN
        decimals = _CENT_DIGITS
        if amount == amount.to_integral_value():
            decimals = 0
        return formats.format_money(amount, currency, decimals, self._locale)

    def price(self, amount: Decimal | None, currency: str | None) -> str:
        """Format the price of an offer, always with cents.

        >>> ENGLISH.price(Decimal("500"), "EUR")
        '€500.00'
        """
        if amount is None:
            return UNKNOWN
        return formats.format_money(amount, currency, _CENT_DIGITS, self._locale)

    def total(self, amount: Decimal, currency: str | None) -> str:
        """Format a sum of prices; cents of large sums would suggest a precision they do not have.

        >>> ENGLISH.total(Decimal("15379.02"), "EUR"), ENGLISH.total(Decimal("5.10"), "EUR")
        ('€15,379', '€5.10')
        """
        if amount >= _CENTS_BELOW:
            amount = amount.quantize(Decimal(1))
        return self.money(amount, currency)

    def totals(self, totals: Mapping[str, Decimal], main_currency: str | None) -> str:
        """Format sums in several currencies side by side, the main currency first.

        >>> ENGLISH.totals({"USD": Decimal(20), "EUR": Decimal(700)}, "EUR")
        '€700 + $20'
        """
        currencies = [currency for currency, total in totals.items() if total]
        currencies.sort(key=lambda currency: (currency != (main_currency or ""), currency))
        parts = [self.total(totals[currency], currency) for currency in currencies]
        hidden = len(parts) - _MAX_CURRENCIES
        if hidden > 0:
            further = self.ngettext(
                "{number} further currency", "{number} further currencies", hidden
            )
            parts[_MAX_CURRENCIES:] = [further.format(number=self.count(hidden))]
        return " + ".join(parts) or UNKNOWN

    def date(self, moment: datetime | None) -> str:
        """Format a date with the month's name.

        >>> ENGLISH.date(datetime(2026, 3, 9, tzinfo=UTC)), ENGLISH.date(None)
        ('9 March 2026', 'an unknown date')
        """
        if moment is None:
            return self.gettext("an unknown date")
        return formats.format_date(moment, self.time_zone, self._date_locale)

    def minute(self, moment: datetime | None) -> str:
        """Format a date and time to the minute, with the time zone.

        >>> ENGLISH.minute(datetime(2026, 3, 9, 14, 5, tzinfo=UTC))
        '9 March 2026, 14:05 UTC'
        """
        if moment is None:
            return UNKNOWN
        return formats.format_minute(moment, self.time_zone, self._date_locale)


ENGLISH = Language(SOURCE_LANGUAGE, NullTranslations())


def load_language(code: str, time_zone: tzinfo = UTC) -> Language:
    """Load a language with its translations. Raises ValueError for one that Scout does not write.

    Reading takes some 20 ms: load a language once, and pass it on.
    """
    if code == SOURCE_LANGUAGE:
        return Language(code, ENGLISH.translations, time_zone)
    if code not in LANGUAGES:
        raise ValueError(f"{code!r} is no language of Scout: choose from {', '.join(LANGUAGES)}")
    # Babel's reader of catalogs is only needed here.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with files("catalog.language").joinpath("translations", f"{code}.po").open("rb") as file:
        write_mo(compiled, read_po(file, locale=code))
    compiled.seek(0)
    return Language(code, GNUTranslations(compiled), time_zone)
