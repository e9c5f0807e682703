"""The merchant's feed as a file, in Google Merchant XML.

See https://support.google.com/merchants/answer/7052112.
"""

from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from scout.demo.assortment.feed_rows import FeedRow
from scout.demo.assortment.merchant_links import merchant_link

NAMESPACE = "http://base.google.com/ns/1.0"
"""Namespace of the product fields."""

Xml.register_namespace("g", NAMESPACE)


def write_feed(rows: Iterable[FeedRow], base: str) -> bytes:
    """Write the rows as one document; links and images are below the URL `base`."""
    root = Xml.Element("rss", {"version": "2.0"})
    channel = Xml.SubElement(root, "channel")
    Xml.SubElement(channel, "title").text = "Birkenhall"
    Xml.SubElement(channel, "link").text = base
    Xml.SubElement(channel, "description").text = "All offers of Birkenhall"
    for row in rows:
        _write_item(Xml.SubElement(channel, "item"), row, base)
    Xml.indent(root)
    document: bytes = Xml.tostring(root, "utf-8", xml_declaration=True)
    return document


def _write_item(item: Xml.Element, row: FeedRow, base: str) -> None:
    # Rows without a title are the unusable ones: they lack all fields that describe the offer.
    has_details = row.title is not None
    fields = {
        "id": row.ref,
        "title": row.title,
        "description": f"<p>{row.offer.description}</p>" if has_details else None,
        "link": merchant_link(row.form, base, row.path, row.ref) if row.path else None,
    }
    if has_details:
        image = base.rstrip("/") + row.offer.image
        fields["image_link"] = image
        fields["additional_image_link"] = image.replace("-1.svg", "-2.svg")
    fields |= {
        "price": row.price,
        "sale_price": row.sale_price,
        "brand": row.brand,
        "gtin": row.gtin,
        "mpn": row.mpn,
        "sku": row.ref if has_details else None,
        "availability": "in_stock" if row.offer.available else "out_of_stock",
        "condition": "new",
    }
    if has_details:
        category = row.offer.category
        fields["item_group_id"] = _group_id(row)
        fields["product_type"] = f"{category.parent} > {category.name}"
    for name, text in fields.items():
        if text is not None:
            Xml.SubElement(item, f"{{{NAMESPACE}}}{name}").text = text
    if has_details:
        shipping = Xml.SubElement(item, f"{{{NAMESPACE}}}shipping")
        _write_shipping(shipping, row.offer.locale)


def _group_id(row: FeedRow) -> str | None:
    """Return the id that variants share; None for an offer without any."""
    if row.offer.variants:
        return f"G{row.offer.number}"
    if row.offer.family:
        return row.offer.family.rsplit("/", 1)[-1]
    return None


def _write_shipping(node: Xml.Element, locale: str) -> None:
    country, price = "US", "6.95 USD"
    if locale == "de":
        country, price = "DE", "4.90 EUR"
    for name, text in (("country", country), ("service", "Standard"), ("price", price)):
        Xml.SubElement(node, f"{{{NAMESPACE}}}{name}").text = text
