"""Images: addresses of pictures, equal where only host, size or version differ."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog.values import image

BASE = "https://shop.example/p/lamp"


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("https://cdn.example/a.jpg", "https://cdn.example/a.jpg"),
        ("//cdn.example/a.jpg?v=1", "https://cdn.example/a.jpg?v=1"),
        ("../img/a.jpg", "https://shop.example/img/a.jpg"),
        ("a.jpg", "https://shop.example/p/a.jpg"),
        ("/img/a b.jpg", "https://shop.example/img/a%20b.jpg"),
        ("/a.jpg 1x, /b.jpg 2x", "https://shop.example/a.jpg"),
        (
            "https://cdn.example/a.jpg 300w, https://cdn.example/b.jpg 600w",
            "https://cdn.example/a.jpg",
        ),
        ("https://cdn.example/image?id=7&amp;w=1", "https://cdn.example/image?id=7&w=1"),
        ("https://cdn.example/is/image/shop/lamp", "https://cdn.example/is/image/shop/lamp"),
        ("background-image: url(/img/a-300x300.jpg)", "https://shop.example/img/a-300x300.jpg"),
        (
            "background:#fff url( '//cdn.example/a (1).jpg' ) no-repeat",
            "https://cdn.example/a%20(1).jpg",
        ),
        (
            'color: red; --small: url("//cdn.example/a.jpg"), url(/b.jpg)',
            "https://cdn.example/a.jpg",
        ),
        ("/img/url(a).jpg", "https://shop.example/img/url(a).jpg"),
        ("https%3A%2F%2Fcdn.example%2Fa.jpg%3Fv%3D1", "https://cdn.example/a.jpg?v=1"),
        ("%2f%2fcdn.example%2Fa.jpg", "https://cdn.example/a.jpg"),
        (
            "//cdn.example/s/Votive_Large_grande.jpg?v=1",
            "https://cdn.example/s/Votive_Large.jpg?v=1",
        ),
        (
            "//cdn.example/s/a_1024x1024_600x_crop_center@2x.png",
            "https://cdn.example/s/a_1024x1024.png",
        ),
        ("/uploads/lamp-800x800-300x300.webp", "https://shop.example/uploads/lamp-800x800.webp"),
        ("/uploads/lamp-small-large.jpg", "https://shop.example/uploads/lamp-small-large.jpg"),
        ("/uploads/lamp_grande.jpg", "https://shop.example/uploads/lamp_grande.jpg"),
        ("/lamp_600x_300x/a_600x.jpg", "https://shop.example/lamp_600x_300x/a_600x.jpg"),
        ("/a_600x600.jpg, /a_600x600@2x.jpg 2x", "https://shop.example/a_600x600.jpg"),
        ("/a.jpg 600w 400h, /b.jpg 900w 600h", "https://shop.example/a.jpg"),
        ("/img/Lamp, red.jpg", "https://shop.example/img/Lamp,%20red.jpg"),
        ("/render?id=7&region=eu&amp;copy=1", "https://shop.example/render?id=7&region=eu&copy=1"),
        ("/blank-t-shirt.jpg", "https://shop.example/blank-t-shirt.jpg"),
        ("/pixel-8-pro.jpg", "https://shop.example/pixel-8-pro.jpg"),
        ("/casino_img_2.jpg", "https://shop.example/casino_img_2.jpg"),
        ("/fireplace-holder.jpg", "https://shop.example/fireplace-holder.jpg"),
    ],
)
def test_addresses(raw: str, url: str) -> None:
    """An address is made absolute; of a srcset, and of CSS, it is the first one."""
    assert image.normalise_image(raw, BASE) == url


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "blue",
        "some words about it",
        "data:image/gif;base64,R0lGOD",
        " DATA:image/png;base64,",
        "/img/placeholder.png",
        "/img/no-image_300x300.gif",
        "/static/catalog/product/placeholder/image.jpg",
        "https://cdn.example/placeholder/lamp.jpg",
        "https://cdn.example/catalog/placeholder/default/shop.jpg?w=300",
        "/img/p/fr-default-large_default.jpg",
        "/blank.gif",
        "/blank-8d4a3b11.gif",
        "/loading-spinner_300x.svg",
        "/1x1.png",
        "/p/lamp.html",
        "/app.js",
        "javascript:alert(1)",
        "ftp://cdn.example/a.jpg",
        "https://",
        "https:///a.jpg",
        "https://[bad/a.jpg",
        "https://cdn.example/",
        "https://cdn.example/" + "a" * 3000 + ".jpg",
        "<img src=a.jpg>",
        "background: url()",
        "background: url(data:image/gif;base64,R0lGOD)",
        "background: url(/img/placeholder.png)",
        "width: 50%",
    ],
)
def test_no_addresses(raw: str) -> None:
    """Embedded data, stand-ins, pages, scripts and plain words are no pictures."""
    assert image.normalise_image(raw, BASE) is None


def test_relative_needs_a_base() -> None:
    """Without the page's address a relative one stays unknown."""
    assert image.normalise_image("/a.jpg") is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/x/Lamp.JPG?v=12#f", "lamp.jpg"),
        ("https://a.example/lamp_small.jpg", "lamp.jpg"),
        ("https://a.example/lamp_1024x1024.jpg", "lamp.jpg"),
        ("https://a.example/lamp_1024x1024@2x.progressive.jpg", "lamp.jpg"),
        ("https://a.example/lamp_600x_crop_center.png?v=1", "lamp.png"),
        ("https://a.example/lamp_x600.png", "lamp.png"),
        ("https://a.example/lamp_{width}x.png", "lamp.png"),
        ("https://a.example/lamp-300x300.webp", "lamp.webp"),
        ("https://a.example/lamp-scaled.jpg", "lamp.jpg"),
        ("https://a.example/lamp__123.500.750.jpg", "lamp__123.jpg"),
        ("https://a.example/lamp%20red.jpg", "lamp red.jpg"),
        ("https://a.example/green_1024x1024_2x_3f63.jpg", "green_1024x1024_2x_3f63.jpg"),
        ("https://a.example/_next/image?url=https%3A%2F%2Fb.example%2Flamp.jpg&w=1", "lamp.jpg"),
        ("https://a.example/image.php?id=7", "image.php?id=7"),
        ("https://a.example/is/image/shop/lamp7?wid=300", "lamp7"),
        ("https://a.example/lamp_2x4.5.jpg", "lamp_2x4.5.jpg"),
        ("https://a.example/media/7f~mv2.jpg/v1/fill/w_50,h_50,q_90/lamp.jpg", "lamp.jpg"),
        ("https://a.example/media/7f~mv2.jpg/v1/fill/w_50,h_50,q_90/file.jpg", "7f~mv2.jpg"),
        ("https://a.example/shops/12/files/1234567/650x750x2/image.jpg", "1234567/image.jpg"),
        (
            "https://a.example/content/1600000000-AB1/image-asset.jpeg?format=500w",
            "1600000000-ab1/image-asset.jpeg",
        ),
        ("https://a.example/items/98765/1.jpg", "98765/1.jpg"),
        ("https://a.example/media/i/m/image.jpg", "image.jpg"),
    ],
)
def test_keys(url: str, name: str) -> None:
    """The key is the file's name without size, version and query - unless the query alone tells
    pictures apart.
    """
    assert image.image_key(url) == name


@example("/&#1ﬁ;")
@example("/a?b=1&amp;#38;c")
@given(st.text(max_size=80))
def test_any_text(raw: str) -> None:
    """Any text gives None or an absolute address that stays as it is."""
    result = image.normalise_image(raw, BASE)
    assert result is None or (
        result.lower().startswith("http")
        and image.normalise_image(result, BASE) == result
        and image.image_key(result)
    )


PARTS = [
    "https:",
    "http:",
    "//",
    "/",
    "cdn.example",
    "a",
    ".jpg",
    ".pdf",
    "..",
    ".",
    "?v=1",
    "?",
    "%7B",
    "no-image",
    "_",
    "~",
]


@given(st.lists(st.sampled_from(PARTS), max_size=9).map("".join))
def test_plain_addresses_are_read_as_any_other(raw: str) -> None:
    """The short way for addresses as most are gives what the long way gives."""
    for base in (BASE, None):
        assert image.normalise_image(raw, base) == (image._read_any(raw, base) if raw else None)
