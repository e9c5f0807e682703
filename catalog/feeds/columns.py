"""Columns of a feed: assigned to the fields of an offer, by their usual names or by the user's
mapping.

Names are compared without case, accents, namespaces (`g:price`) and punctuation, those of amounts
also without a currency in brackets. Within a field the names stand in order of preference: a
merchant's own link before the network's, a product type before Google's category number.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from catalog.errors import MissingFields, UsageError
from catalog.values import find_currency

# Columns, and characters of their names, that a message lists.
_MAX_LISTED = 30
_MAX_LISTED_LENGTH = 40

# Usual column names per field, in languages of the feeds' countries; preferred ones first.
COLUMN_NAMES: dict[str, str] = {
    "id": "id offer_id offerid ref offer_ref item_id product_id productid merchant_product_id "
    "aw_product_id artikel_id"
    " produkt_id unique_id uid",
    "link": "link url product_url product_link produkt_url produktlink merchant_deep_link deeplink "
    "deep_link"
    " aw_deep_link page_url landing_page buy_url click_url artikel_url lien lien_produit enlace "
    "collegamento"
    " href canonical_link",
    "title": "title name product_name product_title titel bezeichnung produktname "
    "produktbezeichnung artikelname"
    " artikelbezeichnung titre nom nom_produit titulo nombre titolo nome naam productnaam",
    "description": "description product_description beschreibung produktbeschreibung "
    "artikelbeschreibung body_html"
    " long_description langbeschreibung description_longue descripcion descrizione omschrijving "
    "short_description"
    " kurzbeschreibung",
    "price": "price preis prix precio prezzo prijs price_value price_amount offers_price "
    "search_price current_price"
    " verkaufspreis bruttopreis preis_brutto price_gross gross_price price_incl_vat prix_ttc "
    "amount",
    "sale_price": "sale_price sale_price_value special_price discounted_price angebotspreis "
    "aktionspreis sonderpreis"
    " prix_promo precio_oferta prezzo_scontato actieprijs",
    "sale_period": "sale_price_effective_date",
    "currency": "currency currency_code price_currency pricecurrency offers_pricecurrency waehrung "
    "wahrung devise"
    " moneda valuta",
    "brand": "brand brand_name marke marque marca merk manufacturer manufacturer_name hersteller "
    "herstellername"
    " fabricant fabricante fabrikant produttore vendor",
    "category": "product_type category category_path categories category_name merchant_category "
    "kategorie kategorien"
    " kategoriepfad warengruppe categorie categoria rubrik google_product_category",
    "image": "image_link image image_url imageurl main_image images image_src images_src images_url "
    "bild bild_url"
    " bildurl bildlink produktbild photo picture img merchant_image_url aw_image_url imagen "
    "immagine afbeelding"
    " additional_image_link additional_image additional_images extra_images",
    "ean": "gtin ean ean13 ean_13 ean_code eancode gtin13 gtin_13 gtin14 gtin12 gtin8 barcode upc "
    "upc_code isbn isbn13"
    " strichcode code_barre code_barres codigo_de_barras",
    "han": "mpn han manufacturer_number manufacturer_part_number mfr_part_number part_number "
    "herstellernummer"
    " hersteller_nr herstellerartikelnummer hersteller_artikelnummer reference_fabricant "
    "manufacturer_sku",
    "sku": "sku merchant_sku shop_sku variant_sku article_number artikelnummer artikel_nr artnr "
    "art_nr item_number"
    " bestellnummer product_code reference referencia codice",
    "availability": "availability stock_status lieferbarkeit verfugbarkeit verfuegbarkeit "
    "disponibilite disponibilidad"
    " disponibilita beschikbaarheid is_in_stock in_stock available stock lagerbestand bestand "
    "voorraad quantity",
    "product": "product product_group catalog_product cluster cluster_id produkt",
}
_AMOUNT_FIELDS = ("price", "sale_price")
_NAMESPACE = re.compile(r"^(?:\{[^}]*\}|[gc]:)")
_PUNCTUATION = re.compile(r"[\W_]+")
_WITH_BRACKETS = re.compile(r"([^(\[]++)[(\[]([^()\[\]]{1,12})[)\]]\s*+")

# Columns that hold a field, the preferred one first.
Columns = dict[str, list[str]]


@dataclass(frozen=True, order=True)
class _Preference:
    """The field of a column; a lower rank is preferred."""

    rank: int
    field: str


def _preferences() -> dict[str, _Preference]:
    preferences: dict[str, _Preference] = {}
    for field, names in COLUMN_NAMES.items():
        for rank, name in enumerate(names.split()):
            preferences[name] = _Preference(rank, field)
    return preferences


_PREFERENCE_OF_NAME = _preferences()


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Normalise a column's name for comparison.

    >>> normalise_name("g:Sale Price"), normalise_name("Währung"), normalise_name("price.value")
    ('sale_price', 'wahrung', 'price_value')
    """
    bare = _NAMESPACE.sub("", name.strip())
    decomposed = unicodedata.normalize("NFKD", bare.casefold())
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return _PUNCTUATION.sub("_", letters).strip("_")


def count_known(names: Iterable[str]) -> int:
    """Count the names that are usual for a field."""
    return sum(_preference(name) is not None for name in names)


@lru_cache(maxsize=4096)
def usual_field(name: str) -> str | None:
    """Return the field that a column of this name usually holds.

    >>> usual_field("g:description"), usual_field("colour")
    ('description', None)
    """
    preference = _preference(name)
    return preference.field if preference else None


def currency_in_name(name: str) -> str | None:
    """Return the currency that stands in brackets behind a column's name.

    >>> currency_in_name("Preis (EUR)"), currency_in_name("price [$]"), currency_in_name("Preis (netto)")
    ('EUR', 'USD', None)
    """
    match = _WITH_BRACKETS.fullmatch(name)
    return find_currency(match[2]) if match else None


def resolve_columns(names: Iterable[str], mapping: Mapping[str, str], source: str) -> Columns:
    """Assign columns to fields, by the user's mapping (field: column) and the usual names.

    Raises UsageError for a mapped field that does not exist; MissingFields for a mapped column that
    is missing, and where the feed has neither title nor link.

    >>> resolve_columns(["Titel", "g:link", "EAN13", "GTIN"], {}, "feed.csv")
    {'link': ['g:link'], 'title': ['Titel'], 'ean': ['GTIN', 'EAN13']}
    """
    names = list(dict.fromkeys(names))
    columns = _mapped_columns(names, mapping, source)
    mapped = {column for field_columns in columns.values() for column in field_columns}
    ranked: list[tuple[int, int, str, str]] = []
    for position, name in enumerate(names):
        preference = _preference(name)
        if name in mapped or preference is None or preference.field in mapping:
            continue
        ranked.append((preference.rank, position, preference.field, name))
    for _, _, field, name in sorted(ranked):
        columns.setdefault(field, []).append(name)
    # A column named `product` is a title where there is no better one.
    if "title" not in columns and "product" in columns and "product" not in mapping:
        columns["title"] = columns.pop("product")
    if "title" not in columns and "link" not in columns:
        raise MissingFields(
            f"{source} has no title and no link, and an offer needs one of them: it has "
            f"{_list(names)};"
            " name the right one with --map title=COLUMN or --map link=COLUMN"
        )
    return {field: columns[field] for field in COLUMN_NAMES if field in columns}


@lru_cache(maxsize=4096)
def _preference(name: str) -> _Preference | None:
    """Return the field that a column's name is usual for; behind an amount's name a currency may
    stand in brackets.
    """
    if preference := _PREFERENCE_OF_NAME.get(normalise_name(name)):
        return preference
    if not currency_in_name(name):
        return None
    bare = _WITH_BRACKETS.sub(r"\1", name)
    preference = _PREFERENCE_OF_NAME.get(normalise_name(bare))
    if preference is None or preference.field not in _AMOUNT_FIELDS:
        return None
    return preference


def _mapped_columns(names: list[str], mapping: Mapping[str, str], source: str) -> Columns:
    # Of several columns whose names compare equal, the first counts.
    by_normalised = {normalise_name(name): name for name in reversed(names)}
    columns: Columns = {}
    for field, column in mapping.items():
        if field not in COLUMN_NAMES:
            raise UsageError(
                f"--map {field}={column}: there is no field {field!r}; there are "
                f"{', '.join(COLUMN_NAMES)}"
            )
        name = column if column in names else by_normalised.get(normalise_name(column))
        if name is None:
            raise MissingFields(
                f"--map {field}={column}: {source} has no column {column!r}; it has {_list(names)}"
            )
        columns[field] = [name]
    return columns


def _list(names: list[str]) -> str:
    shown = ", ".join(name[:_MAX_LISTED_LENGTH] for name in names[:_MAX_LISTED]) or "no columns"
    if len(names) > _MAX_LISTED:
        return f"{shown} and {len(names) - _MAX_LISTED} more"
    return shown
