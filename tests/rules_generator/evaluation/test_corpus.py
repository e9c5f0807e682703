"""Labelled shops with pages that are no offers, and mirrored sites."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from catalog.errors import FeedError
from rules_generator.evaluation.corpus import open_shop, shop_paths
from rules_generator.evaluation.evaluate import EvaluationPlan, Setting, evaluate_extraction
from tests.pages import article_page, category_page, products, text_page

ALL = products(30)


def write_mirror(folder: Path, files: dict[str, str]) -> None:
    """Pack files as the mirror of a site."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(folder / "www.tar.xz", "w:xz") as archive:
        for name, text in files.items():
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirrored site: offers in two catalogs' thirds, categories, articles, and a file that is no page."""
    files = {f"p/{product.number}.html": text_page(product) for product in ALL}
    files |= {f"again/p/{ALL[0].number}.html": text_page(ALL[0])}
    files |= {
        f"c/{number}/index.html": category_page(ALL[number : number + 6]) for number in range(8)
    }
    files |= {f"blog/{number}.html": article_page() for number in range(4)}
    files["sitemap.xml"] = "<urlset/>"
    write_mirror(tmp_path / "site", files)
    offers = {str(product.number): [f"p/{product.number}.html"] for product in ALL}
    offers[str(ALL[0].number)].append(f"again/p/{ALL[0].number}.html")
    truth = {"host": "shop.example", "offers": offers}
    (tmp_path / "site" / "truth.json").write_text(json.dumps(truth))
    rows = [
        {
            "id": f"shop.example:{product.number}",
            "title": product.title,
            "price": product.price,
            "brand": product.brand,
        }
        for product in ALL[:20]
    ]
    (tmp_path / "site" / "catalog.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    return tmp_path / "site"


def test_a_mirrored_site_is_a_labelled_shop(mirror: Path) -> None:
    """Catalogued offers are labelled once, others are offers without labels, all else is no offer."""
    shop = open_shop(mirror)
    assert (len(shop.pages), len(shop.unlabelled_offers), len(shop.other_pages)) == (20, 11, 12)
    assert {page.url for page in shop.other_pages if "/c/" in page.url} == {
        f"https://shop.example/c/{number}" for number in range(8)
    }


def test_offer_pages_are_recognised_and_others_refused(mirror: Path) -> None:
    """The learner sees half of the other pages without a label, and refuses the other half."""
    (row,) = evaluate_extraction(mirror.parent, EvaluationPlan((Setting(10),)), workers=1)[
        "settings"
    ]
    assert row["pages"] == {"offers": 21, "recognised": 21, "others": 6, "refused": 6}
    assert row["attributes"]["title"]["right"] == 10


def test_pages_without_a_line_are_no_offers(tmp_path: Path) -> None:
    """In a folder with `truth.jsonl`, they test whether pages are refused."""
    pages = tmp_path / "shop" / "pages"
    pages.mkdir(parents=True)
    for name in ("1.html", "2.html", "home.html"):
        (pages / name).write_text("<h1>Lamp</h1>")
    lines = [
        json.dumps({"page": name, "url": f"/{name}", "attributes": {"title": "Lamp"}})
        for name in ("1.html", "2.html")
    ]
    (tmp_path / "shop" / "truth.jsonl").write_text("\n".join(lines))
    shop = open_shop(tmp_path / "shop")
    assert [page.name for page in shop.other_pages] == ["home.html"]


@pytest.mark.parametrize("name", ["truth.json", "catalog.jsonl", "www.tar.xz"])
def test_a_malformed_mirror_is_named(mirror: Path, name: str) -> None:
    """The error is one line with the folder."""
    assert shop_paths(mirror.parent) == [mirror]
    (mirror / name).write_text("{")
    with pytest.raises(FeedError, match="cannot be read as a mirrored site") as error:
        open_shop(mirror)
    assert len(str(error.value).splitlines()) == 1
