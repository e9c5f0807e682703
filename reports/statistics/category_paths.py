"""Category paths: their steps and their ancestors."""

from catalog.values.category import path_steps


def category_steps(category: str | None) -> list[str]:
    """Return the steps of a category path, topmost first.

    >>> category_steps("Garden > Mowers / Edgers"), category_steps(None)
    (['Garden', 'Mowers', 'Edgers'], [])
    """
    stripped = (step.strip() for step in path_steps(category or ""))
    return [step for step in stripped if step]


def format_category(category: str | None) -> str:
    """Format a category path for readers.

    >>> format_category("Garden > Mowers")
    'Garden › Mowers'
    """
    return (category or "").replace(" > ", " › ")


def category_prefixes(category: str | None) -> list[str]:
    """Return a category and all its ancestors, topmost first.

    >>> category_prefixes("Garden > Mowers")
    ['Garden', 'Garden > Mowers']
    """
    path = category_steps(category)
    return [" > ".join(path[:depth]) for depth in range(1, len(path) + 1)]
