"""A shop's own tracking keys, learnt from visits."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from url_cleaner.knowledge.shop_keys import ShopKeys, Visit, learn_keys

ROOT = "https://shop.com/p/"
Answer = Callable[[str, str], tuple[str | None, str]]


def _visits(key: str, answer: Answer, pages: int = 4) -> list[Visit]:
    """Every page asked for without the key and with it."""
    names = [f"{ROOT}{number}" for number in range(pages)]
    return [
        Visit(page + query, *answer(page, query)) for page in names for query in ("", f"?{key}=7")
    ]


CASES: dict[str, tuple[Answer, set[str], set[str]]] = {
    "nothing changes": (lambda page, query: (page, page), {"k"}, set()),
    "no canonical links": (lambda page, query: (None, page), {"k"}, set()),
    "content changes": (lambda page, query: (page, page + query), set(), {"k"}),
    "canonical changes": (lambda page, query: (page + query, page), set(), {"k"}),
    "content changes on one page": (
        lambda page, query: (page, page + query * page.endswith("2")),
        set(),
        {"k"},
    ),
}


@pytest.mark.parametrize(("answer", "tracking", "needed"), CASES.values(), ids=CASES.keys())
def test_judgement(answer: Answer, tracking: set[str], needed: set[str]) -> None:
    """A key tracks only if no page ever changed with it; one changed page makes it needed."""
    learnt = learn_keys(_visits("k", answer))
    assert (set(learnt.tracking), set(learnt.needed)) == (tracking, needed)


def test_variant_without_trace_stays() -> None:
    """A key that names variants is never learnt as tracking, even where the server ignores it."""
    learnt = learn_keys(_visits("variant", lambda page, query: (page, page)))
    assert learnt.tracking == ()
    assert learnt.evidence["variant"].same == 4


def test_too_few_pages() -> None:
    """Two pages are not enough to call a key tracking."""
    assert learn_keys(_visits("k", lambda page, query: (page, page), pages=2)).tracking == ()


def test_two_values_are_compared() -> None:
    """A page seen with two values of a key tells as much as one seen without it."""
    visits = [Visit(f"{ROOT}{n}?k={v}", f"{ROOT}{n}", str(n)) for n in range(3) for v in "ab"]
    assert learn_keys(visits).tracking == ("k",)


def test_canonical_alone_proves_nothing() -> None:
    """A canonical link that lacks a key is no proof: shops leave variants out of it too."""
    visits = [Visit(f"{ROOT}{n}?size_code=4", f"{ROOT}{n}", str(n)) for n in range(9)]
    assert learn_keys(visits) == ShopKeys(evidence={})


def test_relative_canonicals_and_rubbish() -> None:
    """Relative canonical links are understood, links that are none are passed over."""
    visits = [
        Visit(f"{ROOT}{n}{q}", f"/p/{n}", str(n)) for n in range(3) for q in ("", "?k=1", "?k=1#x")
    ]
    learnt = learn_keys(
        [*visits, Visit("mailto:x", "http://[", "?"), Visit(f"{ROOT}9", "http://[", "?")]
    )
    assert learnt.tracking == ("k",)


def test_urls_of_very_many_keys_are_not_compared() -> None:
    """A URL of more keys than any honest one costs no comparison per key; others are learnt from as ever."""
    query = "&".join(f"k{number}=1" for number in range(500))
    hostile = [Visit(f"{ROOT}{n}?{query}", None, str(n)) for n in range(500)]
    honest = [Visit(f"{ROOT}{n}{q}", None, str(n)) for n in range(3) for q in ("", "?wkz=1")]
    begin = time.process_time()
    learnt = learn_keys([*hostile, *honest])
    assert (learnt.tracking, set(learnt.evidence)) == (("wkz",), {"wkz"})
    assert time.process_time() - begin < 5


@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.none() | st.text(max_size=30), st.text(max_size=3)),
        max_size=8,
    )
)
def test_anything_may_come_in(visits: list[tuple[str, str | None, str]]) -> None:
    """No visit is rejected with an error, and no key is both tracking and needed."""
    learnt = learn_keys(
        [(f"https://a.com/?{url}", canonical, content) for url, canonical, content in visits]
    )
    assert not set(learnt.tracking) & set(learnt.needed)
