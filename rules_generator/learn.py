"""Learn the rules of a stored shop: join its known offers with its crawled pages, induce, keep what people fixed.

A version of the rules is written once per run, in one transaction: a killed run that is taken up again finds them and
does not learn twice.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice

from sqlmodel import select

from catalog.errors import LearnError, NoKnownOffers
from catalog.models import KnownOffer, Shop, StoredRules, now
from catalog.runtime.progress import Progress, silent
from catalog.runtime.settings import Settings
from catalog.storage.store import Store
from parser.crawled_pages import (
    CrawledPage,
    Opener,
    by_folder,
    crawled_pages,
    in_turn,
    ways_to_pages,
)
from parser.page.document import Document
from parser.parse_job import newest_in
from parser.rules.model import RuleSet, Variants
from rules_generator.induction.induce import induce
from rules_generator.induction.pinned_rules import with_kept
from rules_generator.induction.self_training import as_general, elsewhere, teach_cold
from rules_generator.monitoring.drift import drift_of, shares, surveyed
from rules_generator.monitoring.rule_yield import Coverage, judged
from rules_generator.selection.search import THRESHOLD
from rules_generator.training.sampling import pick, wanted_of
from rules_generator.training.training_example import Taught
from rules_generator.training.training_set import MOST_EXAMPLES, Teachers, newest_rules, teachers
from rules_generator.variants.learn_variants import as_whole, learn_variants
from rules_generator.variants.same_page_offers import families
from rules_generator.variants.schema_org import schema_variants

BACKGROUND = 200
MOST_NAMED = 20
MOST_ELSEWHERE = 200_000
KNOWN_OFFERS = "known offers"
GENERAL_RULES = "general rules"


@dataclass(frozen=True)
class Learnt:
    """What learning brought: the version stored, examples used, found and set aside, rules per attribute, seconds.

    `by` says who taught: known offers or, where the catalog has none of the shop, what its pages say by general rules.
    `wanted` says how many more examples would make sure of which attribute, `drift` what became of the rules before,
    and `kept` how many of those were locked or set by hand and stay. `refused` names pages that could not be opened,
    with the reason.
    """

    version: int
    examples: int
    examples_found: int = 0
    set_aside: int = 0
    templates: int = 0
    rules: dict[str, int] = field(default_factory=dict)
    not_found: tuple[str, ...] = ()
    wanted: dict[str, int] = field(default_factory=dict)
    drift: str = ""
    kept: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    by: str = KNOWN_OFFERS
    seconds: float = 0.0


def learn_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    most: int | None = None,
    threshold: float | None = None,
    anew: bool = False,
    progress: Progress = silent,
) -> Learnt:
    """Learn and store a new version of the shop's rules, unless this run has done so already (`anew`: even then).

    Where the catalog has no offer of the shop, its pages teach themselves (`rules_generator.induction.self_training`). Raises
    NoKnownOffers where they do not say enough for that, LearnError where no known offer has a crawled page.
    """
    begin = time.monotonic()
    before = newest_rules(store, shop)
    if before is not None and before.run_id == run_id and not anew:
        return _told(before, 0.0)
    pages, opener = crawled_pages(store, shop), Opener(settings.bodies)
    since = None if before is None else RuleSet.from_json(before.rules).learnt_at
    least = THRESHOLD if threshold is None else threshold
    try:
        found = teachers(store, shop, pages, opener, most or MOST_EXAMPLES, since, progress)
    except NoKnownOffers as error:
        rules, told = _learn_cold(store, shop, pages, opener, error, (most or MOST_EXAMPLES, least))
        told |= _seen([], _kept_from(rules, before), before, pages, opener)
        return _told(_save(store, shop, run_id, rules, told), time.monotonic() - begin)
    if not found.taught:
        raise LearnError(
            f"none of the {len(found.known)} known offers of {shop.name!r} was found among {len(pages)} crawled pages: "
            "look at their links with 'scout catalog show', and at the crawl with 'scout shop show'"
        )
    progress("examples used", len(found.taught), len(found.taught))
    variants, taught = _with_variants(store, shop, found, pages, opener)
    rules, story = induce(
        taught,
        _background(pages, opener),
        threshold=least,
        currency=_usual_currency(found.known),
    )
    told = asdict(story) | {
        "examples_found": found.examples,
        "refused": opener.refused,
        "wanted": wanted_of([one for one in taught if one.address in rules.learnt_from]),
        "agreement": shares(taught, rules),
    }
    rules = rules.model_copy(update={"variants": variants})
    told |= _seen(taught, _kept_from(rules, before), before, pages, opener)
    return _told(_save(store, shop, run_id, rules, told), time.monotonic() - begin)


def _with_variants(
    store: Store, shop: Shop, found: Teachers, pages: Sequence[CrawledPage], opener: Opener
) -> tuple[tuple[Variants, ...], Sequence[Taught]]:
    """The way in which pages keep several offers, and then the teachers as those of whole pages."""
    groups = families(found.known, pages, ways_to_pages(store, shop))
    way = learn_variants(groups, opener)
    if way is None:
        return (), found.taught
    of_page = {family.page.address: family for family in groups}
    known = [(one, of_page.get(one.address)) for one in found.taught]
    return (way,), [one if family is None else as_whole(one, family, way) for one, family in known]


def _learn_cold(
    store: Store,
    shop: Shop,
    pages: Sequence[CrawledPage],
    opener: Opener,
    error: NoKnownOffers,
    how: tuple[int, float],
) -> tuple[RuleSet, dict[str, object]]:
    """Rules without known offers, and their story."""
    most, threshold = how
    with store.read() as session:
        others = elsewhere(
            session.exec(
                select(KnownOffer).where(KnownOffer.shop_id != shop.id).limit(MOST_ELSEWHERE)
            )
        )
    cold = teach_cold(opener.open_all(in_turn(pages)), others)
    if not cold.taught:
        raise NoKnownOffers(
            f"{error}; none of {cold.looked_at} pages says by general rules that it shows an offer"
        )
    rules, story = induce(pick(cold.taught, most), _background(pages, opener), threshold=threshold)
    told = {
        "by": GENERAL_RULES,
        "examples_found": len(cold.taught),
        "helped_by_other_shops": cold.helped,
    }
    variants = schema_variants([one.document for one in cold.taught])
    return as_general(rules, cold.trust).model_copy(update={"variants": variants}), asdict(
        story
    ) | told | {"refused": opener.refused}


def _background(pages: Sequence[CrawledPage], opener: Opener) -> Iterator[Document]:
    """Pages that offers are told from, some of every folder; each is gone before the next is opened."""
    return (document for _, document in opener.open_all(by_folder(pages)[:BACKGROUND]))


def _seen(
    taught: Sequence[Taught],
    rules: RuleSet,
    before: StoredRules | None,
    pages: Sequence[CrawledPage],
    opener: Opener,
) -> dict[str, object]:
    """What the rules find on a sample of the shop's pages, and what has become there of the rules before."""
    if before is None:
        [(fresh, rested)] = surveyed(pages, opener, [rules], None)
        return {"coverage": asdict(fresh + rested), "drift": None}
    old = RuleSet.from_json(before.rules).model_copy(update={"version": before.version})
    (fresh, rested), found = surveyed(pages, opener, [rules, old], old.learnt_at)
    seen = judged(*found, Coverage.from_json(before.story.get("coverage") or {}))
    drift = drift_of(taught, old, dict(before.story.get("agreement") or {}), seen)
    return {"coverage": asdict(fresh + rested), "drift": asdict(drift)}


def _usual_currency(known: Sequence[KnownOffer]) -> str | None:
    counts = Counter(offer.currency for offer in known if offer.currency)
    return counts.most_common(1)[0][0] if counts else None


def _kept_from(rules: RuleSet, before: StoredRules | None) -> RuleSet:
    return rules if before is None else with_kept(rules, RuleSet.from_json(before.rules))


def _save(
    store: Store, shop: Shop, run_id: int, rules: RuleSet, story: dict[str, object]
) -> StoredRules:
    """Store rules as the newest version, with what people fixed by now: they may have done so while it was learnt."""
    with store.write() as session:
        last = newest_in(session, shop)
        version = (last.version if last else 0) + 1
        dated = _kept_from(rules, last).model_copy(update={"version": version, "learnt_at": now()})
        stored = StoredRules(
            shop_id=shop.id or 0, version=version, run_id=run_id, rules=dated.to_json(), story=story
        )
        session.add(stored)
    return stored


def _told(stored: StoredRules, seconds: float) -> Learnt:
    rules = RuleSet.from_json(stored.rules)
    counts = Counter(
        rule.attribute.value for template in rules.templates for rule in template.rules
    )
    return Learnt(
        version=stored.version,
        examples=len(rules.learnt_from),
        examples_found=int(stored.story.get("examples_found", 0)),
        set_aside=len(stored.story.get("set_aside", ())),
        templates=len(rules.templates),
        rules=dict(counts),
        not_found=tuple(stored.story.get("not_found", ())),
        wanted=dict(stored.story.get("wanted") or {}),
        drift=str((stored.story.get("drift") or {}).get("said", "")),
        kept=len({rule for template in rules.templates for rule in template.rules if rule.kept}),
        refused=dict(islice((stored.story.get("refused") or {}).items(), MOST_NAMED)),
        by=str(stored.story.get("by", KNOWN_OFFERS)),
        seconds=round(seconds, 2),
    )
