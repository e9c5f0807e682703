"""Import of a feed: processor seconds and memory for N offers, from the file to the stored catalog.

    python -m benchmarks.importing [--offers 100000] [--format jsonl|csv|google-xml] [--profile]

The feed is generated: titles, HTML descriptions, prices, GTINs and images, all different from offer
to offer, with 400 brands and 500 category paths; half of the links carry tracking parameters, a tenth is wrapped by an
affiliate network. Processor seconds count this process and its children; memory is the largest
resident set of this process. Generating is not counted.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

from benchmarks.measure import peak_megabytes, processor_seconds

FORMATS = ("jsonl", "csv", "google-xml")
HOME = "https://shop.example/"
_SUFFIXES = {"jsonl": "jsonl", "csv": "csv", "google-xml": "xml"}
_TITLE_WORDS = (
    "lamp table chair shelf garden kitchen drill saw paint brush light steel oak black white green "
    "folding compact large small set with without battery charger cable cover bag outdoor Größe "
    "Möbel grün für Küche"
).split()
_BRANDS = [f"Brand {number}" for number in range(400)]
# Paths of a shop's category tree.
_CATEGORIES = [
    f"{_TITLE_WORDS[number % 29].capitalize()} > {_TITLE_WORDS[number % 23]} > Shelf {number}"
    for number in range(500)
]
_TRACKING = "?utm_source=portal&utm_medium=cpc&utm_campaign=feed&gclid="
_COLUMNS = (
    "id link title description price brand product_type image_link additional_image_link gtin mpn "
    "availability"
).split()


def main() -> None:
    """Generate a feed, import it in a process of its own, and print the cost."""
    arguments = _parse_arguments()
    if arguments.feed:
        _import(arguments.feed, arguments.profile)
        return
    with tempfile.TemporaryDirectory() as folder:
        feed = Path(folder) / f"feed.{_SUFFIXES[arguments.format]}"
        write_feed(feed, arguments.format, arguments.offers)
        size = feed.stat().st_size / 1e6
        print(f"{arguments.offers:,} offers as {arguments.format}, {size:.0f} MB", flush=True)
        command = [sys.executable, "-m", "benchmarks.importing", "--feed", str(feed)]
        if arguments.profile:
            command.append("--profile")
        subprocess.run(command, check=True)


def _parse_arguments() -> argparse.Namespace:
    argument_parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    argument_parser.add_argument("--offers", type=int, default=100_000)
    argument_parser.add_argument("--format", choices=FORMATS, default="jsonl")
    argument_parser.add_argument(
        "--profile", action="store_true", help="print the costliest functions"
    )
    argument_parser.add_argument("--feed", type=Path, help=argparse.SUPPRESS)
    return argument_parser.parse_args()


def write_feed(path: Path, format: str, count: int) -> None:
    """Write a feed of generated offers."""
    offers = _generate(count)
    with path.open("w", encoding="utf-8", newline="") as file:
        if format == "jsonl":
            file.writelines(json.dumps(offer, ensure_ascii=False) + "\n" for offer in offers)
        elif format == "csv":
            writer = csv.DictWriter(file, _COLUMNS)
            writer.writeheader()
            writer.writerows(offers)
        else:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
            file.write('<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n')
            file.writelines(map(_to_xml, offers))
            file.write("</channel></rss>\n")


def _generate(count: int) -> Iterator[dict[str, str]]:
    random_numbers = random.Random(0)
    for number in range(count):
        offer_words = random_numbers.choices(_TITLE_WORDS, k=40)
        slug = "-".join(word for word in offer_words[:4] if word.isascii())
        page = f"{HOME}p/{slug}-{number}"
        kind = random_numbers.random()
        link = page
        if kind < 0.5:
            link = f"{page}{_TRACKING}{number:x}"
        elif kind < 0.6:
            link = f"https://www.awin1.com/cread.php?awinmid=1&ued={quote(page, safe='')}"
        sentence = " ".join(offer_words[6:])
        yield {
            "id": str(number),
            "link": link,
            "title": f"{' '.join(offer_words[:6]).capitalize()} {number}",
            "description": f"<p>{sentence}.</p><ul><li>{offer_words[7]} {number}</li></ul>",
            "price": f"{random_numbers.randrange(100, 99_999) / 100:.2f} EUR",
            "brand": random_numbers.choice(_BRANDS),
            "product_type": random_numbers.choice(_CATEGORIES),
            "image_link": f"{HOME}media/{number}.jpg",
            "additional_image_link": f"{HOME}media/{number}-2.jpg",
            "gtin": _make_gtin(4_000_000_000_00 + number),
            "mpn": f"{offer_words[1][:3].upper()}-{number}",
            "availability": random_numbers.choice(("in stock", "out of stock", "preorder")),
        }


def _make_gtin(stem: int) -> str:
    digits = f"{stem:012}"
    weighted = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return f"{digits}{-weighted % 10}"


def _to_xml(offer: dict[str, str]) -> str:
    fields = [f"<g:{name}>{escape(value)}</g:{name}>" for name, value in offer.items()]
    return f"<item>{''.join(fields)}</item>\n"


def _import(feed: Path, with_profile: bool) -> None:
    # Imported late: the process that writes the feed needs none of it.
    from catalog.feeds.importing import import_offers
    from catalog.links.shop_links import make_cleaner
    from catalog.models import Shop
    from catalog.runtime.served_process import stop_servers
    from catalog.runtime.settings import Settings
    from catalog.storage.store import Store

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        store = Store.open(settings)
        with store.write() as session:
            shop = Shop(name="benchmark", url=HOME)
            session.add(shop)
        cleaner = make_cleaner(settings, store, shop)
        begin, cpu_begin = time.perf_counter(), processor_seconds()
        if with_profile:
            import cProfile
            import pstats

            profiler = cProfile.Profile()
            summary = profiler.runcall(import_offers, store, shop, str(feed), cleaner=cleaner)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(40)
        else:
            summary = import_offers(store, shop, str(feed), cleaner=cleaner)
        wall = time.perf_counter() - begin
        # The processor time of the second process is known once it has ended with its server.
        stop_servers()
        cpu = processor_seconds() - cpu_begin
        store.engine.dispose()
    peak = peak_megabytes()
    print(f"{summary.kept:,} kept, {summary.bad:,} bad; {cpu:.1f} s of processor time,", end=" ")
    print(f"{wall:.1f} s, {1e6 * cpu / summary.read:.0f} µs an offer, {peak:.0f} MB at most")


if __name__ == "__main__":
    main()
