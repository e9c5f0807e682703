"""The merchant's feed as a file: Google Merchant XML (https://support.google.com/merchants/answer/7052112)."""

from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from scout.demo.assortment.feed_rows import Row
from scout.demo.assortment.merchant_links import merchant_link

G = "http://base.google.com/ns/1.0"
Xml.register_namespace("g", G)


def write_feed(rows: Iterable[Row], base: str) -> bytes:
    """The rows as one document; links and images lead below `base`."""
    root = Xml.Element("rss", {"version": "2.0"})
    channel = Xml.SubElement(root, "channel")
    for name, text in (
        ("title", "Birkenhall"),
        ("link", base),
        ("description", "All offers of Birkenhall"),
    ):
        Xml.SubElement(channel, name).text = text
    for row in rows:
        _item(Xml.SubElement(channel, "item"), row, base)
    Xml.indent(root)
    document: bytes = Xml.tostring(root, "utf-8", xml_declaration=True)
    return document


def _item(item: Xml.Element, row: Row, base: str) -> None:
    offer, site = row.offer, base.rstrip("/")
    whole = row.title is not None
    said = {
        "id": row.ref,
        "title": row.title,
        "description": f"<p>{offer.description}</p>" if whole else None,
        "link": merchant_link(row.form, base, row.path, row.ref) if row.path else None,
        "image_link": site + offer.image if whole else None,
        "additional_image_link": site + offer.image.replace("-1.svg", "-2.svg") if whole else None,
        "price": row.price,
        "sale_price": row.sale_price,
        "brand": row.brand,
        "gtin": row.gtin,
        "mpn": row.mpn,
        "sku": row.ref if whole else None,
        "availability": "in_stock" if offer.available else "out_of_stock",
        "condition": "new",
        "item_group_id": _group(row) if whole else None,
        "product_type": f"{offer.category.parent} > {offer.category.name}" if whole else None,
    }
    for name, text in said.items():
        if text is not None:
            Xml.SubElement(item, f"{{{G}}}{name}").text = text
    if whole:
        _shipping(Xml.SubElement(item, f"{{{G}}}shipping"), offer.locale)


def _group(row: Row) -> str | None:
    return (
        f"G{row.offer.number}"
        if row.offer.variants
        else row.offer.family and row.offer.family.rsplit("/", 1)[-1]
    )


def _shipping(node: Xml.Element, locale: str) -> None:
    country, price = ("DE", "4.90 EUR") if locale == "de" else ("US", "6.95 USD")
    for name, text in (("country", country), ("service", "Standard"), ("price", price)):
        Xml.SubElement(node, f"{{{G}}}{name}").text = text
