"""The kind of a column follows from its values and its name, and can be given."""

import pytest

from catalog.errors import UsageError
from matcher.taught.columns.kinds import ColumnKind, detect_kind, parse_kinds

WORDS = "the quick brown fox jumps over the lazy dog and runs away "


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("price", ["9.90", "12.00", "1,299.00", "€ 5"], "number"),
        ("price", ["0.00", "12.50", "0", "8.90"], "number"),
        ("pack", ["98 tablets", "30 tablets", "1x50", "28 tablets"] * 5, "number"),
        ("price", [f"{row}.50" for row in range(30)] + ["12.50 per kilo"], "number"),
        ("stock", [str(row) for row in range(100)] + ["5 pieces", "on request"], "number"),
        ("filter", [f"CA{row}" for row in range(10_633, 10_700)], "identifier"),
        ("season", ["2000-01", "2004-05", "2010-11", "2013-14"], "identifier"),
        ("rate", [f"1.1{row}" for row in range(100, 200)], "number"),
        ("size", ["81x161x13 mm", "4 x 5 x 20mm", "8*3", "9 × 7"], "number"),
        ("area", ["45.5", "ca. 46 m²", "99 m2", "from 120 qm"], "number"),
        ("model", ["911 Carrera", "911 Turbo", "718 Boxster"] * 20, "category"),
        ("model", ["BMW 320", "Audi 80", "BMW 520", "Audi 100"] * 5, "text"),
        ("registered", ["03/2019", "2019-03", "Mar 2019", "11.2020"], "date"),
        ("year", ["1999", "2004", "1987", "2011"], "year"),
        ("published", ["c1999", "[2004]", "1987.", "2011"], "year"),
        ("pages", ["199", "2004", "187", "311"], "number"),
        ("date_of_birth", ["19800112", "19791231", "19600505"], "date"),
        ("added", ["2021-05-01", "2022-11-30", "2020-01-02"], "date"),
        ("phone", ["7735550100", "7735550101", "7735550102"], "identifier"),
        ("postcode", ["2602", "4570", "3000"], "identifier"),
        ("key", ["1234567", "7654321", "2345678"], "identifier"),
        ("modelno", ["elplp12", "kx-tg1", "121066"], "identifier"),
        ("surname", ["Clarke", "van der Berg", "Ng"], "name"),
        ("address", ["12 Elm Street", "4 Oak Lane"], "address"),
        ("where", ["12 Elm Street", "4 Oak Lane Ave"], "address"),
        ("title", ["Lumo desk lamp A12 black metal", "Tarn mug 300 ml blue"], "text"),
        ("state", ["nsw", "vic"] * 50, "category"),
        ("text", [WORDS * 10, WORDS * 7], "long"),
        ("body", ["<p>One</p>", "<div class='x'>Two</div>"], "html"),
        ("empty", ["", " "], "ignore"),
    ],
)
def test_kinds(name: str, values: list[str], kind: str) -> None:
    """Each kind is detected from typical values."""
    assert detect_kind(name, [values]) == ColumnKind(kind)


@pytest.mark.parametrize(
    ("given", "message"), [({"x": "name"}, "no such column"), ({"a": "colour"}, "kinds are")]
)
def test_given_kinds_that_do_not_fit(given: dict[str, str], message: str) -> None:
    """An unknown column or kind is named."""
    with pytest.raises(UsageError, match=message):
        parse_kinds(["a", "b"], given)
