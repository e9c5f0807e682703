"""What a person says: a word on a finding, kept by the offer's URL so that it outlives runs; an attribute's name."""

from dataclasses import dataclass

from sqlmodel import Session, select

from catalog.errors import UsageError
from catalog.models import Attribute, Match, PersonsWord, Shop, Word, now
from catalog.storage.store import Store
from scout.pipeline import pipeline
from url_cleaner.clean import clean


@dataclass(frozen=True)
class Kept:
    """The URL under which a word was kept, and whether that is a finding of the newest run."""

    url: str
    is_finding: bool


def keep(store: Store, shop: Shop, url: str, word: Word, remark: str | None = None) -> Kept:
    """Keep the word in place of an earlier one on the same offer, whichever of its URLs is given. Raises BadUrl."""
    run = pipeline.latest(store, shop)
    with store.write() as session:
        finding = _finding(session, run.id, url, shop) if run else None
        key = finding or clean(url, home=shop.url).url or url
        same = select(PersonsWord).where(PersonsWord.shop_id == shop.id, PersonsWord.url == key)
        said = session.exec(same).first() or PersonsWord(
            shop_id=pipeline.shop_key(shop), url=key, word=word
        )
        said.word, said.note, said.at = word, remark, now()
        session.add(said)
    return Kept(key, finding is not None)


def attribute_named(name: str) -> Attribute:
    """The attribute of that name. Raises UsageError that lists all.

    >>> attribute_named("price").value
    'price'
    """
    if name not in set(Attribute):
        raise UsageError(f"{name!r} is no attribute: choose from {', '.join(Attribute)}")
    return Attribute(name)


def _finding(session: Session, run_id: int | None, url: str, shop: Shop) -> str | None:
    exact = select(Match.url).where(Match.run_id == run_id, Match.url == url)
    if found := session.exec(exact).first():
        return found
    given = {url, clean(url, home=shop.url).url}
    for known, others in session.exec(select(Match.url, Match.urls).where(Match.run_id == run_id)):
        if given & {known, *others}:
            return known
    return None
