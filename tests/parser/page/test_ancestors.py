"""The elements around an element are walked innermost first, up to the body of the page."""

from parser.page.ancestors import ancestors_or_self, around_any, path_to_body
from parser.page.document import Document

PAGE = Document("<body><main><p><b>9</b><i>8</i></p></main>", "https://shop.example/p/1")


def test_the_body_is_the_last_ancestor() -> None:
    """The root of the document is no element of the page; a count ends the walk earlier."""
    [bold] = PAGE.all("b")
    assert [node.tag for node in ancestors_or_self(bold)] == ["b", "p", "main", "body"]
    assert [node.tag for node in ancestors_or_self(bold, 2)] == ["b", "p"]


def test_ids_around_several_elements() -> None:
    """Elements that share their ancestors count these once."""
    bold, italic = PAGE.all("b, i")
    assert path_to_body(bold)[1:] == path_to_body(italic)[1:]
    assert around_any([bold, italic]) == {bold.mem_id, *path_to_body(italic)}
    assert around_any([]) == set()
