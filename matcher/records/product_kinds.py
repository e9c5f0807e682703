"""Product kinds named by a title: pack, clothing size, part number of a series, accessory.

`set of 2` or a single item, size L or XL, part I or II, a case *for* a phone or the phone: the
words that decide are few and short, so the similarity of two titles hides them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from matcher.records.units import extract_quantities

_SIZES = frozenset("xs xl xxl xxxl 2xl 3xl 4xl 5xl small medium large".split())
# Single letters are sizes only after `size` or at the end of a title.
_SIZE_LETTERS = frozenset("sml")
_ROMAN_NUMERALS = frozenset("i ii iii iv vi vii viii ix xi xii".split())
# `for` in English, German, French, Spanish and Dutch, without accents.
_FOR = frozenset("for fur pour para voor".split())
_SINGLE_PACK = frozenset({"", "1"})


@dataclass(frozen=True)
class ProductKind:
    """Pack sizes above one, clothing sizes, Roman numerals, and the words after `for`."""

    packs: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    numerals: frozenset[str] = frozenset()
    fits: frozenset[str] = frozenset()


def detect_product_kind(tokens: Sequence[str]) -> ProductKind:
    """Detect the product kind in a title's tokens.

    >>> detect_product_kind(("case", "for", "fono", "x")).fits == {"fono", "x"}
    True
    >>> detect_product_kind(("men", "s", "shirt", "size", "l")).sizes
    frozenset({'l'})
    >>> detect_product_kind(("cups", "2pcs")).packs
    frozenset({'2'})
    """
    sizes = _SIZES.intersection(tokens)
    if len(tokens) > 1:
        sizes |= _SIZE_LETTERS.intersection(_size_positions(tokens))
    return ProductKind(
        packs=extract_quantities(tokens).get("pcs", frozenset()) - _SINGLE_PACK,
        sizes=sizes,
        # A title that begins with `I` or `VI` rather names something else.
        numerals=_ROMAN_NUMERALS.intersection(tokens[1:]),
        fits=frozenset(tokens[_position_of_for(tokens) + 1 :]),
    )


def describe_kind_differences(
    shop_tokens: Sequence[str],
    shop_kind: ProductKind,
    catalog_tokens: Sequence[str],
    catalog_kind: ProductKind,
) -> list[str]:
    """Describe in words each difference between the product kinds of two titles."""
    differences = []
    # A pack size counts against a title without one; different pack sizes are quantities.
    if bool(shop_kind.packs) != bool(catalog_kind.packs):
        differences.append(
            f"variant: {_format_packs(shop_kind)} in the shop, "
            f"{_format_packs(catalog_kind)} in the catalog"
        )
    for name, shop_values, catalog_values in (
        ("size", shop_kind.sizes, catalog_kind.sizes),
        ("part", shop_kind.numerals, catalog_kind.numerals),
    ):
        if shop_values and catalog_values and not shop_values & catalog_values:
            differences.append(
                f"variant: {name} {_quote(shop_values)} in the shop, "
                f"{name} {_quote(catalog_values)} in the catalog"
            )
    # An accessory: all words of one title follow `for` in the other.
    if catalog_tokens and not catalog_kind.fits and shop_kind.fits.issuperset(catalog_tokens):
        differences.append("variant: accessory in the shop, main product in the catalog")
    elif shop_tokens and not shop_kind.fits and catalog_kind.fits.issuperset(shop_tokens):
        differences.append("variant: main product in the shop, accessory in the catalog")
    return differences


def _size_positions(tokens: Sequence[str]) -> list[str]:
    """Return the tokens that may be a size letter: after `size`, and the last one."""
    candidates = []
    previous = ""
    for token in tokens:
        if previous == "size" or token == tokens[-1]:
            candidates.append(token)
        previous = token
    return candidates


def _position_of_for(tokens: Sequence[str]) -> int:
    """Return the position of the first `for` after the first token, else the end."""
    for position, token in enumerate(tokens):
        if position and token in _FOR:
            return position
    return len(tokens)


def _format_packs(kind: ProductKind) -> str:
    return " and ".join(f"{value} pcs" for value in sorted(kind.packs)) or "one"


def _quote(tokens: frozenset[str]) -> str:
    return " ".join(f"'{token}'" for token in sorted(tokens))
