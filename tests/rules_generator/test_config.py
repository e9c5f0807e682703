"""The learner's configuration names the mechanisms and ranking terms that can be switched off."""

from pathlib import Path

import pytest

from catalog.errors import UsageError
from rules_generator.config import MECHANISMS, RANKING_TERMS, LearnerConfig

NAMES = [*MECHANISMS, *RANKING_TERMS]


@pytest.mark.parametrize("name", NAMES)
def test_a_mechanism_can_be_switched_off(name: str) -> None:
    """All others stay on."""
    config = LearnerConfig(without=frozenset({name}))
    assert [other for other in NAMES if not config.uses(other)] == [name]


def test_an_unknown_mechanism_is_refused() -> None:
    """The error names it and the known ones, in one line."""
    with pytest.raises(UsageError) as error:
        LearnerConfig(without=frozenset({"crystal_ball", "fillers"}))
    message = str(error.value)
    assert "no such mechanism: crystal_ball;" in message
    assert all(name in message for name in NAMES)
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("name", RANKING_TERMS)
def test_the_documents_list_each_ranking_term(name: str) -> None:
    """The table in the package's page has the term's name, weight, feature and effect as the code has them."""
    page = Path(__file__).parents[2] / "docs" / "packages" / "rules_generator.md"
    term = RANKING_TERMS[name]
    row = f"| `{name}` | {term.weight:g} | {term.feature} | {term.effect} |"
    assert row in page.read_text(encoding="utf-8")
