"""Tables: names that databases in use have."""

from catalog.models import Review


def test_reviews_keep_their_table() -> None:
    """Reviews are stored in the table and columns of earlier versions."""
    table = Review.metadata.tables["persons_word"]
    assert [column.name for column in table.columns] == [
        "id",
        "shop_id",
        "url",
        "word",
        "note",
        "at",
        "reviewer",
    ]
