"""Columns: which column of a feed is which field of an offer, by its usual names or by the user's word.

Names are compared without case, accents, namespaces (`g:price`) and punctuation, those of amounts also without a
currency in brackets. Within a field the names stand in order of preference: a merchant's own link before the network's,
a product type before Google's category number.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from catalog.errors import MissingFields, UsageError
from catalog.values import currency_of

FIELDS: dict[str, str] = {
    "id": "id offer_id offerid ref offer_ref item_id product_id productid merchant_product_id aw_product_id artikel_id"
    " produkt_id unique_id uid",
    "link": "link url product_url product_link produkt_url produktlink merchant_deep_link deeplink deep_link"
    " aw_deep_link page_url landing_page buy_url click_url artikel_url lien lien_produit enlace collegamento"
    " href canonical_link",
    "title": "title name product_name product_title titel bezeichnung produktname produktbezeichnung artikelname"
    " artikelbezeichnung titre nom nom_produit titulo nombre titolo nome naam productnaam",
    "description": "description product_description beschreibung produktbeschreibung artikelbeschreibung body_html"
    " long_description langbeschreibung description_longue descripcion descrizione omschrijving short_description"
    " kurzbeschreibung",
    "price": "price preis prix precio prezzo prijs price_value price_amount offers_price search_price current_price"
    " verkaufspreis bruttopreis preis_brutto price_gross gross_price price_incl_vat prix_ttc amount",
    "sale_price": "sale_price sale_price_value special_price discounted_price angebotspreis aktionspreis sonderpreis"
    " prix_promo precio_oferta prezzo_scontato actieprijs",
    "sale_period": "sale_price_effective_date",
    "currency": "currency currency_code price_currency pricecurrency offers_pricecurrency waehrung wahrung devise"
    " moneda valuta",
    "brand": "brand brand_name marke marque marca merk manufacturer manufacturer_name hersteller herstellername"
    " fabricant fabricante fabrikant produttore vendor",
    "category": "product_type category category_path categories category_name merchant_category kategorie kategorien"
    " kategoriepfad warengruppe categorie categoria rubrik google_product_category",
    "image": "image_link image image_url imageurl main_image images image_src images_src images_url bild bild_url"
    " bildurl bildlink produktbild photo picture img merchant_image_url aw_image_url imagen immagine afbeelding"
    " additional_image_link additional_image additional_images extra_images",
    "ean": "gtin ean ean13 ean_13 ean_code eancode gtin13 gtin_13 gtin14 gtin12 gtin8 barcode upc upc_code isbn isbn13"
    " strichcode code_barre code_barres codigo_de_barras",
    "han": "mpn han manufacturer_number manufacturer_part_number mfr_part_number part_number herstellernummer"
    " hersteller_nr herstellerartikelnummer hersteller_artikelnummer reference_fabricant manufacturer_sku",
    "sku": "sku merchant_sku shop_sku variant_sku article_number artikelnummer artikel_nr artnr art_nr item_number"
    " bestellnummer product_code reference referencia codice",
    "availability": "availability stock_status lieferbarkeit verfugbarkeit verfuegbarkeit disponibilite disponibilidad"
    " disponibilita beschikbaarheid is_in_stock in_stock available stock lagerbestand bestand voorraad quantity",
    "product": "product product_group catalog_product cluster cluster_id produkt",
}
_BY_NAME = {
    name: (field, rank)
    for field, names in FIELDS.items()
    for rank, name in enumerate(names.split())
}
_AMOUNTS = ("price", "sale_price")
_IN_BRACKETS = re.compile(r"([^(\[]++)[(\[]([^()\[\]]{1,12})[)\]]\s*+")
Columns = dict[str, list[str]]


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A column's name as it is compared.

    >>> plain("g:Sale Price"), plain("Währung"), plain("price.value")
    ('sale_price', 'wahrung', 'price_value')
    """
    bare = re.sub(r"^(?:\{[^}]*\}|[gc]:)", "", name.strip())
    letters = unicodedata.normalize("NFKD", bare.casefold())
    return re.sub(
        r"[\W_]+", "_", "".join(letter for letter in letters if not unicodedata.combining(letter))
    ).strip("_")


def known(names: Iterable[str]) -> int:
    """How many of the names are those of a field."""
    return sum(_field(name) is not None for name in names)


def currency(name: str) -> str | None:
    """The currency that stands in brackets behind a column's name.

    >>> currency("Preis (EUR)"), currency("price [$]"), currency("Preis (netto)")
    ('EUR', 'USD', None)
    """
    found = _IN_BRACKETS.fullmatch(name)
    return currency_of(found[2]) if found else None


@lru_cache(maxsize=4096)
def _field(name: str) -> tuple[str, int] | None:
    """The field that a column's name is usual for, and how preferred; an amount's currency may stand behind it."""
    if found := _BY_NAME.get(plain(name)):
        return found
    bare = _IN_BRACKETS.sub(r"\1", name) if currency(name) else ""
    amount = _BY_NAME.get(plain(bare))
    return amount if amount and amount[0] in _AMOUNTS else None


def resolve(names: Iterable[str], mapping: Mapping[str, str], source: str) -> Columns:
    """Per field, the columns that hold it, the preferred one first.

    >>> resolve(["Titel", "g:link", "EAN13", "GTIN"], {}, "feed.csv")
    {'link': ['g:link'], 'title': ['Titel'], 'ean': ['GTIN', 'EAN13']}

    Raises UsageError for a mapped field that there is none of, MissingFields for a mapped column that is not there,
    and where neither title nor link is.
    """
    names = list(dict.fromkeys(names))
    found = _mapped(names, mapping, source)
    taken = {column for columns in found.values() for column in columns}
    ranked = sorted(
        (found_as[1], order, found_as[0], name)
        for order, name in enumerate(names)
        if name not in taken and (found_as := _field(name)) and found_as[0] not in mapping
    )
    for _, _, field, name in ranked:
        found.setdefault(field, []).append(name)
    if "title" not in found and "product" in found and "product" not in mapping:
        found["title"] = found.pop("product")
    if "title" not in found and "link" not in found:
        raise MissingFields(
            f"{source} has no title and no link, and an offer needs one of them: it has {_listed(names)};"
            " name the right one with --map title=COLUMN or --map link=COLUMN"
        )
    return {field: found[field] for field in FIELDS if field in found}


def _mapped(names: list[str], mapping: Mapping[str, str], source: str) -> Columns:
    by_plain = {plain(name): name for name in reversed(names)}
    found: Columns = {}
    for field, column in mapping.items():
        if field not in FIELDS:
            raise UsageError(
                f"--map {field}={column}: there is no field {field!r}; there are {', '.join(FIELDS)}"
            )
        name = column if column in names else by_plain.get(plain(column))
        if name is None:
            raise MissingFields(
                f"--map {field}={column}: {source} has no column {column!r}; it has {_listed(names)}"
            )
        found[field] = [name]
    return found


def _listed(names: list[str]) -> str:
    shown = ", ".join(name[:40] for name in names[:30]) or "no columns"
    return shown + (f" and {len(names) - 30} more" if len(names) > 30 else "")
