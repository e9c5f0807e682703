"""Learn the rules of a stored shop: join its known offers with its crawled pages, induce rules,
keep pinned ones.

A version of the rules is written once per run, in one transaction: a killed run that is resumed
finds them and does not learn twice. A run in which everything is as when the newest version was
learnt takes that over.

Rules are induced in a worker process. If it dies, the page that it worked on is suspect. A page on
which three of them have died is set aside with the reason, and learning goes on without it.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice

from sqlalchemy import or_
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from catalog.errors import LearnError, NoKnownOffers
from catalog.models import KnownOffer, Page, PageState, Shop, Stage, StoredRules, utc_now
from catalog.runtime.code_version import code_version
from catalog.runtime.limits.process_end import ENDED_PROCESS, set_aside_reason
from catalog.runtime.limits.process_limits import ProcessLimits
from catalog.runtime.page_marker import NO_PAGE
from catalog.runtime.progress import Progress, no_progress
from catalog.runtime.settings import Settings
from catalog.runtime.supervised_workers import MAX_TRIES, WorkerDied, call_supervised
from catalog.storage.bodies import share_credentials
from catalog.storage.fingerprints import (
    Digest,
    find_fingerprint,
    imports_of_others,
    known_offers_digest,
    store_fingerprint,
)
from catalog.storage.store import Store, lock_shop
from parser.crawled_pages import (
    CrawledPage,
    PageOpener,
    interleave_folders,
    list_crawled_pages,
    redirect_targets,
    shuffle_pages,
)
from parser.page.document import Document
from parser.parse_job import newest_rules_row
from parser.rules.model import RuleSet, VariantLayout
from rules_generator.config import DEFAULT_CONFIG
from rules_generator.induction.inducer import induce
from rules_generator.induction.pinned_rules import carry_over_pinned
from rules_generator.induction.self_training import (
    as_general_rules,
    index_other_shops,
    self_train,
)
from rules_generator.monitoring.drift import (
    agreement_shares,
    drift_since_learning,
    sample_yields,
)
from rules_generator.training.examples import TrainingExample
from rules_generator.training.sampling import examples_needed, sample_examples
from rules_generator.training.training_set import (
    MAX_EXAMPLES,
    TrainingSet,
    latest_rules,
    load_training_set,
)
from rules_generator.variants.learn_variants import as_whole_page, learn_variants
from rules_generator.variants.same_page_offers import group_by_page
from rules_generator.variants.schema_org import schema_variants

# Caps: unlabelled pages for signatures, refused pages that are named, offers of other shops.
MAX_BACKGROUND = 200
MAX_NAMED = 20
MAX_OTHER_OFFERS = 200_000
# Pages that may be set aside in one run: beyond that, the machine is at fault.
MAX_SET_ASIDE = 20
# Seconds of processor time: hundred times that of the labelled shop that takes longest.
MAX_SECONDS = 3_600
# Where the examples come from, as it is stored and printed.
KNOWN_OFFERS = "known offers"
GENERAL_RULES = "general rules"
# Packages whose code the rules depend on.
LEARNING_PACKAGES = ("catalog", "parser", "rules_generator", "url_cleaner")
# The drift of rules that were not learnt again.
UNCHANGED = "the rules hold: pages and known offers are those they were learnt from"

# The report stored beside a version of the rules, as JSON.
StoredReport = dict[str, object]


@dataclass(frozen=True)
class LearnReport:
    """Result of learning: the version stored, examples used, joined and set aside, rules per
    attribute, seconds.

    `by` names the source of the examples: known offers or, if the catalog has none of the shop,
    general rules. `wanted` has the number of examples lacking per attribute. `drift` describes the
    rules before, `drift_kind` is a DriftKind ("" if there were none), and `kept` counts the pinned
    ones. `refused` has pages that could not be opened, or ended the process that learnt, with the
    reason.
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
    drift_kind: str = ""
    kept: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    by: str = KNOWN_OFFERS
    seconds: float = 0.0


@dataclass(frozen=True)
class LearnTask:
    """Input of the learning process; `set_aside` are pages to leave out: {page id: reason}."""

    settings: Settings
    shop: str
    max_examples: int
    threshold: float
    set_aside: Mapping[int, str]


@dataclass(frozen=True)
class CrawledShop:
    """A stored shop with its crawled pages."""

    task: LearnTask
    store: Store
    shop: Shop
    pages: Sequence[CrawledPage]
    opener: PageOpener

    def background(self, progress: Progress) -> Iterator[Document]:
        """Yield a sample of pages from every folder; each is freed before the next is opened."""
        sample = interleave_folders(self.pages)[:MAX_BACKGROUND]
        for number, (_, document) in enumerate(self.opener.open_all(sample), 1):
            progress("pages compared with the examples", number, len(sample))
            yield document


def learn_shop(
    settings: Settings,
    store: Store,
    shop: Shop,
    run_id: int,
    *,
    most: int | None = None,
    threshold: float | None = None,
    anew: bool = False,
    progress: Progress = no_progress,
) -> LearnReport:
    """Learn and store a new version of the shop's rules.

    Not if this run has done so already, or if all that the rules depend on is as it was (`anew`:
    even then). If the catalog has no offer of the shop, its pages are self-trained. Raises
    NoKnownOffers if too few pages show an offer by general rules, LearnError if no known offer has
    a crawled page.
    """
    begin = time.monotonic()
    share_credentials(settings.bodies)
    before = latest_rules(store, shop)
    if before is not None and before.run_id == run_id and not anew:
        return _report(before, 0.0)
    task = LearnTask(
        settings=settings,
        shop=shop.name,
        max_examples=most or MAX_EXAMPLES,
        threshold=DEFAULT_CONFIG.score_threshold if threshold is None else threshold,
        set_aside=_set_aside_by_parser(store, shop),
    )
    digest = _digest_inputs(store, shop, task)
    if not anew and (current := _confirm_rules(store, shop, run_id, digest)) is not None:
        return replace(_report(current, time.monotonic() - begin), drift=UNCHANGED)
    rules, stored_report = _learn_supervised(task, progress)
    saved = _save(store, shop, run_id, rules, stored_report, digest)
    return _report(saved, time.monotonic() - begin)


def _digest_inputs(store: Store, shop: Shop, task: LearnTask) -> str:
    """Return the fingerprint of learning: all that rules depend on but the rules before."""
    digest = Digest(code_version(*LEARNING_PACKAGES), task.max_examples, task.threshold)
    digest.add(sorted(task.set_aside.items()))
    with store.read() as session:
        digest.add_rows(_learnt_pages(session, shop))
        digest.add(known_offers_digest(session, shop.id or 0))
        # The offers of other shops help where the catalog has none of this one.
        offers = select(KnownOffer.id).where(KnownOffer.shop_id == shop.id).limit(1)
        if session.exec(offers).first() is None:
            digest.add(imports_of_others(session, shop.id or 0))
    return digest.hexdigest()


def _learnt_pages(session: Session, shop: Shop) -> list[tuple[object, ...]]:
    """Return the columns of pages that learning depends on, in the order of the URLs."""
    has_content = or_(col(Page.state) == PageState.FETCHED, col(Page.canonical).is_not(None))
    names = ("url", "state", "body", "canonical", "content_type")
    columns = [getattr(Page, name) for name in names]
    pages = sql_select(*columns).where(col(Page.shop_id) == shop.id, has_content)
    return sorted(map(tuple, session.connection().execute(pages)))


def _confirm_rules(store: Store, shop: Shop, run_id: int, digest: str) -> StoredRules | None:
    """Date the newest rules anew if learning would give them again, else return None.

    Rules that were set, locked or restored since they were learnt are a later version.
    """
    with store.write() as session:
        lock_shop(session, shop.id or 0)
        found = find_fingerprint(session, shop.id or 0, Stage.LEARN, digest)
        newest = newest_rules_row(session, shop)
        if found is None or newest is None or found[1].get("version") != newest.version:
            return None
        # Drift is measured on pages that were fetched after this time.
        dated = RuleSet.from_json(newest.rules).model_copy(update={"learnt_at": utc_now()})
        newest.rules = dated.to_json()
        store_fingerprint(session, run_id, Stage.LEARN, digest=digest, version=newest.version)
        return newest


def _set_aside_by_parser(store: Store, shop: Shop) -> dict[int, str]:
    """Return {page id: reason} of pages that ended their process and have not changed."""
    pages = select(Page.id, Page.read_reason).where(
        Page.shop_id == shop.id, col(Page.read_reason).startswith(ENDED_PROCESS)
    )
    with store.read() as session:
        return {page_id or 0: reason or "" for page_id, reason in session.exec(pages)}


def _learn_supervised(task: LearnTask, progress: Progress) -> tuple[RuleSet, StoredReport]:
    """Learn in a worker process, without the pages on which three of them die."""
    set_aside = dict(task.set_aside)
    limits = ProcessLimits(task.settings.run_memory, MAX_SECONDS)
    deaths: Counter[int] = Counter()
    while True:
        try:
            return call_supervised(
                learn_stored_shop, (replace(task, set_aside=set_aside),), progress, limits
            )
        except WorkerDied as death:
            deaths[death.page_id] += 1
            if deaths[death.page_id] < MAX_TRIES:
                continue
            if death.page_id == NO_PAGE or len(set_aside) - len(task.set_aside) >= MAX_SET_ASIDE:
                raise LearnError(
                    f"the process that learns {task.shop!r} ended {deaths.total()} times: {death}"
                ) from death
            set_aside[death.page_id] = set_aside_reason(str(death))


def learn_stored_shop(
    task: LearnTask, *, progress: Progress = no_progress
) -> tuple[RuleSet, StoredReport]:
    """Induce the rules of a stored shop, without storing them. Returns the rules and the report.

    Raises NoKnownOffers, LearnError.
    """
    store = Store.open(task.settings)
    shop = store.shop(task.shop)
    before = latest_rules(store, shop)
    opener, pages = PageOpener(task.settings.bodies), []
    for page in list_crawled_pages(store, shop):
        if page.page_id in task.set_aside:
            opener.refused[page.address] = task.set_aside[page.page_id]
        else:
            pages.append(page)
    crawled = CrawledShop(task, store, shop, pages, opener)
    since = None if before is None else RuleSet.from_json(before.rules).learnt_at
    examples: Sequence[TrainingExample] = []
    try:
        training_set = load_training_set(
            store, shop, pages, opener, task.max_examples, since, progress
        )
    except NoKnownOffers as error:
        rules, stored_report = _learn_cold(crawled, error, progress)
    else:
        rules, stored_report, examples = _learn_warm(crawled, training_set, progress)
    stored_report["refused"] = opener.refused
    return rules, stored_report | _compare(examples, rules, before, crawled)


def _learn_warm(
    crawled: CrawledShop, training_set: TrainingSet, progress: Progress
) -> tuple[RuleSet, StoredReport, Sequence[TrainingExample]]:
    """Learn from known offers. Returns the rules, the report, and the examples."""
    offers = training_set.known_offers
    if not training_set.examples:
        raise LearnError(
            f"none of the {len(offers)} known offers of {crawled.shop.name!r} was found among "
            f"{len(crawled.pages)} crawled pages: look at their links with 'scout catalog show', "
            "and at the crawl with 'scout shop show'"
        )
    progress("examples used", len(training_set.examples), len(training_set.examples))
    variants, examples = _with_variants(crawled, training_set)
    currencies = Counter(offer.currency for offer in offers if offer.currency)
    rules, induction = induce(
        examples,
        crawled.background(progress),
        threshold=crawled.task.threshold,
        currency=max(currencies, key=lambda name: currencies[name], default=None),
        progress=progress,
    )
    used = [example for example in examples if example.address in rules.learnt_from]
    stored_report = asdict(induction) | {
        "examples_found": training_set.joined,
        "wanted": examples_needed(used),
        "agreement": agreement_shares(examples, rules),
    }
    return rules.model_copy(update={"variants": variants}), stored_report, examples


def _with_variants(
    crawled: CrawledShop, training_set: TrainingSet
) -> tuple[tuple[VariantLayout, ...], Sequence[TrainingExample]]:
    """Learn the lists that hold several offers. Returns them, and whole-page examples."""
    redirects = redirect_targets(crawled.store, crawled.shop)
    families = group_by_page(training_set.known_offers, crawled.pages, redirects)
    layout = learn_variants(families, crawled.opener)
    if layout is None:
        return (), training_set.examples
    by_address = {family.page.address: family for family in families}
    examples = []
    for example in training_set.examples:
        family = by_address.get(example.address)
        examples.append(example if family is None else as_whole_page(example, family, layout))
    return (layout,), examples


def _learn_cold(
    crawled: CrawledShop, error: NoKnownOffers, progress: Progress
) -> tuple[RuleSet, StoredReport]:
    """Learn without known offers."""
    query = (
        select(KnownOffer)
        .where(KnownOffer.shop_id != crawled.shop.id)
        .order_by(col(KnownOffer.id))
        .limit(MAX_OTHER_OFFERS)
    )
    with crawled.store.read() as session:
        other_shops = index_other_shops(session.exec(query))
    training = self_train(crawled.opener.open_all(shuffle_pages(crawled.pages)), other_shops)
    if not training.examples:
        raise NoKnownOffers(
            f"{error}; none of {training.pages} pages says by general rules that it shows an offer"
        )
    examples = sample_examples(training.examples, crawled.task.max_examples)
    rules, induction = induce(
        examples,
        crawled.background(progress),
        threshold=crawled.task.threshold,
        progress=progress,
    )
    general = as_general_rules(rules, training.trust)
    variants = schema_variants([example.document for example in training.examples])
    stored_report = asdict(induction) | {
        "by": GENERAL_RULES,
        "examples_found": len(training.examples),
        "helped_by_other_shops": training.helped,
    }
    return general.model_copy(update={"variants": variants}), stored_report


def _compare(
    examples: Sequence[TrainingExample],
    rules: RuleSet,
    before: StoredRules | None,
    crawled: CrawledShop,
) -> StoredReport:
    """Measure the rules' yield on a sample of pages, and the drift of the rules before."""
    rules = _with_pinned(rules, before)
    if before is None:
        [(fresh, resting)] = sample_yields(crawled.pages, crawled.opener, [rules], None)
        return {"coverage": asdict(fresh + resting), "drift": None}
    old = RuleSet.from_json(before.rules).model_copy(update={"version": before.version})
    (fresh, resting), old_yields = sample_yields(
        crawled.pages, crawled.opener, [rules, old], old.learnt_at
    )
    drift = drift_since_learning(examples, old, before.story, old_yields)
    return {"coverage": asdict(fresh + resting), "drift": asdict(drift)}


def _with_pinned(rules: RuleSet, before: StoredRules | None) -> RuleSet:
    return rules if before is None else carry_over_pinned(rules, RuleSet.from_json(before.rules))


def _save(
    store: Store,
    shop: Shop,
    run_id: int,
    rules: RuleSet,
    stored_report: StoredReport,
    digest: str,
) -> StoredRules:
    """Store rules as the newest version, with the rules that reviewers pinned meanwhile."""
    with store.write() as session:
        lock_shop(session, shop.id or 0)
        last = newest_rules_row(session, shop)
        version = (last.version if last else 0) + 1
        dates = {"version": version, "learnt_at": utc_now()}
        dated = _with_pinned(rules, last).model_copy(update=dates)
        stored = StoredRules(
            shop_id=shop.id or 0,
            version=version,
            run_id=run_id,
            rules=dated.to_json(),
            story=stored_report,
        )
        session.add(stored)
        store_fingerprint(session, run_id, Stage.LEARN, digest=digest, version=version)
    return stored


def _report(stored: StoredRules, seconds: float) -> LearnReport:
    rules = RuleSet.from_json(stored.rules)
    all_rules = list(chain.from_iterable(template.rules for template in rules.templates))
    story = stored.story
    return LearnReport(
        version=stored.version,
        examples=len(rules.learnt_from),
        examples_found=int(story.get("examples_found", 0)),
        set_aside=len(story.get("set_aside", ())),
        templates=len(rules.templates),
        rules=dict(Counter(rule.attribute.value for rule in all_rules)),
        not_found=tuple(story.get("not_found", ())),
        wanted=dict(story.get("wanted") or {}),
        drift=stored.drift_summary,
        drift_kind=str((story.get("drift") or {}).get("kind", "")),
        kept=len({rule for rule in all_rules if rule.is_pinned}),
        refused=dict(islice((story.get("refused") or {}).items(), MAX_NAMED)),
        by=str(story.get("by", KNOWN_OFFERS)),
        seconds=round(seconds, 2),
    )
