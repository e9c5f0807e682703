"""Sentences that state a group of missing offers as evidence.

Every template is a constant with named fields, so that it can be translated.
"""

from dataclasses import dataclass
from datetime import datetime

from catalog.language.sentences import Argument, Money, Sentence, gettext_noop
from catalog.values.availability import OUT_OF_STOCK
from reports.causes.offer_columns import INVALID, ZERO, Trait
from reports.statistics.category_paths import format_category
from reports.statistics.value_names import AVAILABILITY_NAMES

# Begin of the parser's name of a template, before its number.
_TEMPLATE_PREFIX = "template "


@dataclass(frozen=True)
class GroupFigures:
    """Figures that a sentence states.

    `low` and `high` are round prices that describe an interval without leaving it; None is open.
    `elsewhere` is the missing share of the offers in no group. `new_since` is the time of the
    previous run if new offers were recognised by it; None if by the last import.
    """

    listed: int
    offers: int
    elsewhere: float
    is_whole: bool
    low: Money | None = None
    high: Money | None = None
    new_since: datetime | None = None

    @property
    def share(self) -> float:
        """Missing share of the group."""
        return (self.offers - self.listed) / self.offers


_ABSENT = {
    Trait.CATEGORY: (
        gettext_noop("the whole category “{value}” is absent ({listed} of {offers} offers listed)"),
        gettext_noop(
            "nearly the whole category “{value}” is absent ({listed} of {offers} offers listed)"
        ),
    ),
    Trait.BRAND: (
        gettext_noop("the whole brand “{value}” is absent ({listed} of {offers} offers listed)"),
        gettext_noop(
            "nearly the whole brand “{value}” is absent ({listed} of {offers} offers listed)"
        ),
    ),
}

# Without a listed offer, with exceptions, and with a part listed.
_PRICES_BELOW = (
    gettext_noop("no offer below {high} is listed ({listed} of {offers} offers listed)"),
    gettext_noop("nearly no offer below {high} is listed ({listed} of {offers} offers listed)"),
    gettext_noop("{share} of the offers below {high} are missing, elsewhere {elsewhere}"),
)
_PRICES_FROM = (
    gettext_noop("no offer from {low} upwards is listed ({listed} of {offers} offers listed)"),
    gettext_noop(
        "nearly no offer from {low} upwards is listed ({listed} of {offers} offers listed)"
    ),
    gettext_noop("{share} of the offers from {low} upwards are missing, elsewhere {elsewhere}"),
)
_PRICES_BETWEEN = (
    gettext_noop(
        "no offer from {low} to below {high} is listed ({listed} of {offers} offers listed)"
    ),
    gettext_noop(
        "nearly no offer from {low} to below {high} is listed ({listed} of {offers} offers listed)"
    ),
    gettext_noop(
        "{share} of the offers from {low} to below {high} are missing, elsewhere {elsewhere}"
    ),
)

_SHARES = {
    Trait.CATEGORY: gettext_noop(
        "{share} of the category “{value}” is missing, elsewhere {elsewhere}"
    ),
    Trait.BRAND: gettext_noop("{share} of the brand “{value}” is missing, elsewhere {elsewhere}"),
    Trait.CURRENCY: gettext_noop(
        "{share} of the offers in {value} are missing, elsewhere {elsewhere}"
    ),
    Trait.EAN_PREFIX: gettext_noop(
        "{share} of the offers with an EAN that begins with {value} are missing, elsewhere "
        "{elsewhere}"
    ),
    Trait.EAN_STATE: gettext_noop(
        "{share} of the offers without an EAN are missing, elsewhere {elsewhere}"
    ),
    Trait.PRICE_STATE: gettext_noop(
        "{share} of the offers without a price are missing, elsewhere {elsewhere}"
    ),
    Trait.AVAILABILITY: gettext_noop(
        "{share} of the offers with the availability “{value}” are missing, elsewhere {elsewhere}"
    ),
    Trait.PICTURE: gettext_noop(
        "{share} of the offers without a picture are missing, elsewhere {elsewhere}"
    ),
    Trait.LANGUAGE: gettext_noop(
        "{share} of the offers on pages in the language “{value}” are missing, elsewhere "
        "{elsewhere}"
    ),
    Trait.VARIANT: gettext_noop(
        "{share} of the offers with a listed variant on their page are missing, elsewhere "
        "{elsewhere}"
    ),
    Trait.POSITION: gettext_noop(
        "{share} of the last {offers} offers in the order of their numbers are missing, before "
        "them {elsewhere}"
    ),
    Trait.TEMPLATE: gettext_noop(
        "{share} of the offers on pages with layout {value} are missing, elsewhere {elsewhere}"
    ),
    Trait.FOLDER: gettext_noop(
        "{share} of the offers below {value} are missing, elsewhere {elsewhere}"
    ),
}
# Groups whose sentence depends on the value.
_SHARES_BY_VALUE = {
    (Trait.EAN_STATE, INVALID): gettext_noop(
        "{share} of the offers with an invalid EAN are missing, elsewhere {elsewhere}"
    ),
    (Trait.PRICE_STATE, ZERO): gettext_noop(
        "{share} of the offers with a price of 0 are missing, elsewhere {elsewhere}"
    ),
    (Trait.PRICE_STATE, INVALID): gettext_noop(
        "{share} of the offers with an implausible price are missing, elsewhere {elsewhere}"
    ),
    (Trait.AVAILABILITY, OUT_OF_STOCK): gettext_noop(
        "{share} of the offers out of stock are missing, elsewhere {elsewhere}"
    ),
}
_NEWER = gettext_noop(
    "{share} of the offers that are newer than the last import are missing, elsewhere {elsewhere}"
)
_NEW = gettext_noop(
    "{share} of the offers not seen in the run of {date} are missing, elsewhere {elsewhere}"
)


def state_group(trait: Trait, value: str, figures: GroupFigures) -> Sentence:
    """State a group with its figures."""
    arguments: dict[str, Argument] = {
        "value": _value_argument(trait, value),
        "listed": figures.listed,
        "offers": figures.offers,
        "share": float(figures.share),
        "elsewhere": float(figures.elsewhere),
        "low": figures.low,
        "high": figures.high,
        "date": figures.new_since,
    }
    template = _template(trait, value, figures)
    used = {name: argument for name, argument in arguments.items() if f"{{{name}}}" in template}
    return Sentence(template, used)


def _value_argument(trait: Trait, value: str) -> Argument:
    if trait is Trait.CATEGORY:
        return format_category(value)
    # The others are names; this is a term, which can be translated.
    if trait is Trait.AVAILABILITY:
        return Sentence(AVAILABILITY_NAMES.get(value, value))
    if trait is Trait.TEMPLATE:
        return value.removeprefix(_TEMPLATE_PREFIX)
    return value


def _template(trait: Trait, value: str, figures: GroupFigures) -> str:
    # 0: none listed, 1: a few exceptions, 2: a part.
    degree = 2
    if figures.is_whole:
        degree = min(figures.listed, 1)
    if trait is Trait.PRICE:
        return _price_templates(figures)[degree]
    if trait in _ABSENT and degree < 2:
        return _ABSENT[trait][degree]
    if trait is Trait.IS_NEW:
        return _NEW if figures.new_since else _NEWER
    return _SHARES_BY_VALUE.get((trait, value)) or _SHARES[trait]


def _price_templates(figures: GroupFigures) -> tuple[str, str, str]:
    if figures.low is None:
        return _PRICES_BELOW
    if figures.high is None:
        return _PRICES_FROM
    return _PRICES_BETWEEN
