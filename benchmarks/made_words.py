"""Made words for generated records: the same number always gives the same word."""

_CONSONANTS = "bcdfghjklmnprst"
_VOWELS = "aeiou"
# Different syllables, and syllables of a word.
_SYLLABLES = len(_CONSONANTS) * len(_VOWELS)
_LENGTH = 3


def made_word(number: int) -> str:
    """Return a word for a number: its syllables are the number's digits, the last one first.

    >>> made_word(0), made_word(76)
    ('Bababa', 'Bebeba')
    """
    syllables = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, _SYLLABLES)
        consonant, vowel = divmod(digit, len(_VOWELS))
        syllables.append(_CONSONANTS[consonant] + _VOWELS[vowel])
    return "".join(syllables).capitalize()
