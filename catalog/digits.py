"""Texts of digits."""


def is_ascii_number(text: str, max_digits: int | None = None) -> bool:
    """Return True for a text of digits that int() reads, by default of any number of them.

    str.isdigit alone accepts others, such as superscripts. int() of a very long number is slow.

    >>> is_ascii_number("12"), is_ascii_number("12", 1), is_ascii_number("²"), is_ascii_number("")
    (True, False, False, False)
    """
    is_number = text.isascii() and text.isdigit()
    return is_number and (max_digits is None or len(text) <= max_digits)
