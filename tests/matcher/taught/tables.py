"""A small table of shops' goods with duplicates, made by a recipe."""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import combinations

import numpy as np

from matcher.dedupe.base.records import Records
from matcher.taught.deduplication import Labels

COLUMNS = ("title", "maker", "price")
THINGS = ("lamp", "mug", "chair", "kettle", "shelf", "clock", "basket", "mirror")
MAKERS = ("Lumo", "Tarn", "Oakfield", "Brisk", "Nordlys")
COLOURS = ("red", "blue", "black", "white", "oak", "brass")


def make_goods(count: int = 60) -> tuple[Records, list[tuple[int, int]]]:
    """Return `count` goods of one shop and their copies of another, with the true pairs."""
    generator = random.Random(1)
    rows = list[tuple[str, str, str]]()
    for number in range(count):
        thing, maker = generator.choice(THINGS), generator.choice(MAKERS)
        model = f"{thing[0].upper()}{generator.randrange(100, 999)}"
        price = f"{generator.randrange(500, 9000) / 100:.2f}"
        rows.append((f"{maker} {thing} {model} {generator.choice(COLOURS)}", maker, price))
        assert len(rows) == number + 1
    pairs = list[tuple[int, int]]()
    for number in range(0, count, 2):
        title, maker, price = rows[number]
        words = title.split()
        generator.shuffle(words)
        rows.append((" ".join(words).lower(), maker.upper(), price))
        pairs.append((number, len(rows) - 1))
    return to_records(rows), pairs


def make_adverts(count: int = 120) -> tuple[Records, list[tuple[int, int]]]:
    """Return adverts of companies that each search for three people, with the true pairs.

    The three adverts of a company have half of their sentences in common, and its name and place.
    The first one is posted again by an agency: a part of it, in another order.
    """
    generator = random.Random(3)
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)) for _ in range(900)]

    def write(sentences: int) -> list[str]:
        return [" ".join(generator.choices(words, k=12)) + "." for _ in range(sentences)]

    rows = list[tuple[str, str, str]]()
    pairs = list[tuple[int, int]]()
    while len(rows) < count:
        company, shared = " ".join(generator.choices(words, k=2)), write(6)
        for number in range(3):
            title, sentences = " ".join(generator.choices(words, k=3)), [*shared, *write(6)]
            rows.append((title, company, " ".join(sentences)))
            if number == 0:
                pairs.append((len(rows) - 1, len(rows)))
                copied = " ".join(generator.sample(sentences, 7))
                rows.append((title, generator.choice(words), copied))
    return to_records(rows, ("title", "company", "text")), pairs


def make_visits(patients: int = 80) -> tuple[Records, list[tuple[int, int]]]:
    """Return visits of which only the date differs, on two records each, with the true pairs.

    Two sources write names and dates in forms of their own.
    """
    generator = random.Random(5)
    rows, pairs = list[tuple[str, str, str]](), list[tuple[int, int]]()
    for _ in range(patients):
        first, last, town = ("".join(generator.choices("abdeiklmnorstu", k=7)) for _ in range(3))
        day = date(2024, 1, 1)
        for _ in range(generator.choice([1, 2, 3])):
            day += timedelta(days=generator.randrange(1, 60))
            pairs.append((len(rows), len(rows) + 1))
            rows.append((f"{first} {last}", town, f"{day:%Y-%m-%d}"))
            rows.append((f"{last} {first}", town, f"{day:%m/%d/%y}"))
    return to_records(rows, ("patient", "town", "visit")), pairs


def make_editions(
    count: int = 60, years_are_wrong: bool = False
) -> tuple[Records, list[tuple[int, int]]]:
    """Return books in two editions of which no record names its number, with the true pairs.

    Four in ten have an ISBN. Each edition stands in three catalogues. With `years_are_wrong` there is
    one edition of each book, and one catalogue has a wrong year in every second record.
    """
    generator = random.Random(5)
    words = ["".join(generator.choices("abdeiklmnorstu", k=7)) for _ in range(400)]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for number in range(count):
        title = " ".join(generator.choices(words, k=4)).capitalize()
        surname, year = generator.choice(words).capitalize(), generator.randrange(1950, 1990)
        for _ in range(1 if years_are_wrong else 2):
            isbn = f"{generator.randrange(10**9, 10**10)}" if generator.random() < 0.4 else ""
            first = len(rows)
            pairs += [(first, first + 1), (first, first + 2), (first + 1, first + 2)]
            other_year = year + 7 if years_are_wrong and number % 2 else year
            rows.append((f"{surname}, A.", title, str(year), isbn))
            rows.append((f"Anna {surname}", title.upper(), str(other_year), isbn))
            rows.append((surname, f"{title}: a {generator.choice(words)}", str(year), isbn))
            year += generator.randrange(5, 9)
    return to_records(rows, ("author", "title", "year", "isbn")), pairs


def make_concerts(tours: int = 60) -> tuple[Records, list[tuple[int, int]]]:
    """Return concerts that two or three agencies list each, with the true pairs.

    A tour has one artist, and four concerts a few days apart in other cities.
    """
    generator = random.Random(8)
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)).capitalize() for _ in range(300)]
    cities = words[:12]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for _ in range(tours):
        artist = " ".join(generator.choices(words, k=2))
        day = date(2025, 1, 1) + timedelta(generator.randrange(300))
        for city in generator.sample(cities, 4):
            day += timedelta(generator.randrange(1, 5))
            hall = f"{city} {generator.choice(('Hall', 'Arena', 'Theatre'))}"
            first = len(rows)
            rows.append((artist, f"{artist}: live", hall, city, day.isoformat()))
            rows.append((artist.upper(), artist, hall, city, f"{day:%d.%m.%Y}"))
            pairs.append((first, first + 1))
            if generator.random() < 0.5:
                rows.append((artist, f"{artist} on tour", hall, city.upper(), f"{day:%d %b %Y}"))
                pairs += [(first, first + 2), (first + 1, first + 2)]
    return to_records(rows, ("artist", "title", "venue", "city", "date")), pairs


def make_flats(
    houses: int = 60, areas_are_wrong: bool = False
) -> tuple[Records, list[tuple[int, int]]]:
    """Return flats that three portals list, several in each house, with the true pairs.

    With `areas_are_wrong` there is one flat in each house, and one portal has a wrong area in every
    second record.
    """
    generator = random.Random(9)
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)).capitalize() for _ in range(300)]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for number in range(houses):
        address = f"{generator.choice(words)}weg {generator.randrange(1, 90)}"
        agency = " ".join(generator.choices(words, k=2))
        for _ in range(1 if areas_are_wrong else 3):
            area, rent = generator.randrange(30, 140), generator.randrange(300, 1900)
            other_area = area + 25 if areas_are_wrong and number % 2 else area
            first = len(rows)
            pairs += [(first, first + 1), (first, first + 2), (first + 1, first + 2)]
            for copy_area in (area, other_area, area):
                address_form = generator.choice(("{}", "{}, 2nd floor", "{} (centre)"))
                rows.append(
                    (
                        address_form.format(generator.choice((address, address.upper()))),
                        generator.choice((agency, f"{agency} Ltd")),
                        generator.choice((f"{copy_area} m²", str(copy_area), f"{copy_area}.0")),
                        generator.choice((str(rent), f"{rent} €", f"{rent}.00")),
                    )
                )
    return to_records(rows, ("address", "agency", "area", "rent")), pairs


def make_accounts(families: int = 200, members: int = 1) -> tuple[Records, list[tuple[int, int]]]:
    """Return holders of accounts that up to four banks list, with the true pairs.

    Each bank writes names, phone numbers and IBANs in a way of its own. The members of a family share
    name, address and phone number.
    """
    generator = random.Random(10)
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)).capitalize() for _ in range(300)]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for _ in range(families):
        last, town = generator.choices(words, k=2)
        phone = generator.randrange(10**6, 10**7)
        address = f"{generator.randrange(10_000, 99_999)} {town}"
        for first in generator.sample(words, members):
            number = generator.randrange(10**17, 10**18)
            day = date(1950, 1, 1) + timedelta(generator.randrange(15_000))
            written = (
                (f"{first} {last}", f"0310/{phone}", f"DE12{number}", day.isoformat()),
                (f"{last}, {first}", f"+49 310 {phone}", f"{number}", f"{day:%d.%m.%Y}"),
                (f"{first[0]}. {last}", f"(0310) {phone}", f"DE12 {number}", f"{day:%d/%m/%Y}"),
                (f"{last.upper()} {first.upper()}", f"0049310{phone}", f"..{number % 10**6}", ""),
            )
            banks = generator.sample(range(4), generator.choice((1, 2, 3, 4)))
            pairs += combinations(range(len(rows), len(rows) + len(banks)), 2)
            for bank in banks:
                kept = [value if generator.random() < 0.85 else "" for value in written[bank][1:]]
                rows.append((written[bank][0], *kept, address, f"bank {bank}"))
    return to_records(rows, ("holder", "phone", "iban", "born", "address", "bank")), pairs


def make_specimens(gatherings: int = 100) -> tuple[Records, list[tuple[int, int]]]:
    """Return plants of collections that up to three catalogues list, with the true pairs.

    Three plants of the same genus were found at one place; their numbers are written in three ways.
    """
    generator = random.Random(11)
    words = ["".join(generator.choices("abdeiklmnorstu", k=7)).capitalize() for _ in range(300)]
    kinds = [word.lower() for word in words[:3]]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for _ in range(gatherings):
        collector, site = generator.choice(words), " ".join(generator.choices(words, k=2))
        genus = generator.choice(words)
        for kind in kinds:
            number = generator.randrange(10**5, 10**6)
            forms = (f"B {number}", f"B-00{number}", str(number))
            catalogues = generator.sample(range(3), generator.choice((1, 2, 3)))
            pairs += combinations(range(len(rows), len(rows) + len(catalogues)), 2)
            for catalogue in catalogues:
                plant = f"{genus} {kind}"
                name = (plant, f"{genus[0]}. {kind}", plant.upper())[catalogue]
                rows.append((forms[catalogue], name, collector, site))
    return to_records(rows, ("number", "species", "collector", "site")), pairs


def make_citations(works: int = 12, copies: int = 40) -> tuple[Records, list[tuple[int, int]]]:
    """Return sloppy citations of a few works, of which most candidate pairs are true, with these."""
    generator = random.Random(12)
    words = ["".join(generator.choices("abdeiklmnorstu", k=7)) for _ in range(60)]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for _ in range(works):
        first, last = generator.choice(words), generator.choice(words)
        title, venue = generator.sample(words, 7), generator.choices(words[:9], k=3)
        year = generator.randrange(1988, 1996)
        pairs += combinations(range(len(rows), len(rows) + copies), 2)
        for _ in range(copies):
            cited = [word for word in title if generator.random() < 0.85]
            if generator.random() < 0.4:
                cited[0] = cited[0][1:] + generator.choice("aeiou")
            author = generator.choice((f"{first} {last}", f"{last}, {first[0]}.", last))
            place = generator.choice((" ".join(venue), f"Proc. {venue[0]}", venue[2], ""))
            other_year = year + generator.choice((0, 0, 0, 0, 1, -1))
            rows.append((author, " ".join(cited), place, generator.choice((str(other_year), ""))))
    return to_records(rows, ("author", "title", "venue", "year")), pairs


def to_records(rows: Sequence[tuple[str, ...]], columns: tuple[str, ...] = COLUMNS) -> Records:
    """Return rows of columns as records."""
    fields = tuple(map(list, zip(*rows, strict=True)))
    return Records(fields, [" ".join(row) for row in rows], range(len(rows)), columns)


def make_labels(pairs: list[tuple[int, int]], count: int = 60) -> Labels:
    """Label 20 true pairs, and as many pairs of neighbouring rows that are none."""
    true_pairs = pairs[:20]
    others = [(row, row + 1) for row in range(0, count - 1, 2)][:20]
    labels = [True] * len(true_pairs) + [False] * len(others)
    return Labels(np.array([*true_pairs, *others]), np.array(labels))


def make_patients(count: int = 1_200) -> tuple[Records, list[tuple[int, int]]]:
    """Return patients with common names, of whom each tenth is entered twice, with the true pairs.

    One letter or digit of the second entry is wrong. Many namesakes have another birthday.
    """
    generator = random.Random(11)
    words = ["".join(generator.choices("abdeiklmnorstu", k=6)).capitalize() for _ in range(120)]
    rows = list[tuple[str, ...]]()
    pairs = list[tuple[int, int]]()
    for number in range(count):
        names = [generator.choice(words[:40]), generator.choice(words[40:])]
        birthday = generator.randrange(1930, 2010), generator.randrange(12), generator.randrange(28)
        row = [*names, str(birthday[0]), str(birthday[1] + 1), str(birthday[2] + 1)]
        rows.append(tuple(row))
        if number % 10 == 0:
            pairs.append((len(rows) - 1, len(rows)))
            column = generator.randrange(len(row))
            place = generator.randrange(len(row[column]))
            wrong = generator.choice("123456789" if column > 1 else "aeiou")
            row[column] = row[column][:place] + wrong + row[column][place + 1 :]
            rows.append(tuple(row))
    return to_records(rows, ("first_name", "last_name", "year", "month", "day")), pairs
