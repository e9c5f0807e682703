"""What the examples of one template say of all candidates.

Known values are looked for on some examples, every place where one stands gives candidates, and these are tallied on
all examples. Where there are many, the candidates run in heats first: most of them find the same in the same place.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.models import NUMBERS, Attribute
from parser.page.document import Document
from parser.rules.model import Form, Rule
from parser.rules.selector import AnySelector
from parser.rules.trim import Trim
from rules_generator.candidates import trimming
from rules_generator.candidates.breadcrumbs import trails
from rules_generator.candidates.candidate import Candidate
from rules_generator.candidates.menu_entries import LISTED, menus
from rules_generator.candidates.place_kind import spot
from rules_generator.candidates.selector_pool import Ways
from rules_generator.candidates.strikethrough import unstruck
from rules_generator.candidates.value_mapping import meant
from rules_generator.locate.known_values import CUTTABLE, Place, Wanted, places, slugs
from rules_generator.locate.share_links import Parameter, around_pictures, pictures_in
from rules_generator.scoring.filters import sound
from rules_generator.scoring.tally import Tally, rank, tally
from rules_generator.selection.empty_fields import at_hand, unspoken
from rules_generator.selection.gtin_fallback import of_any_length, usual_codes
from rules_generator.selection.title_fallback import usual_title
from rules_generator.selection.voting_set import SEVERAL, choose, several_of
from rules_generator.training.example_pages import Opened
from rules_generator.training.examples import Example
from rules_generator.training.page_cache import TOO_SLOW, SlowPage

THRESHOLD = 0.5
MOST_CANDIDATES = 90
MOST_WITH_CUTS = 40
MOST_BY_LOOK = 30
MOST_SHARED = 12
MOST_BESIDE = 12
MOST_UNSTRUCK = 24

ENOUGH_FOR_ALL = 16
FIRST_HEAT = 4
HEAT = 12
BEST_OF_HEAT = 24
BEST_OF_SPOT = 4
MOST_ELSEWHERE = 6
ENOUGH_LOOKED_AT = 20
STRIDE = 3


class SlowPages(Exception):
    """Pages on which selectors take long, where they take too long on one: all are asked for the same."""

    def __init__(self, documents: Sequence[Document]) -> None:
        super().__init__(TOO_SLOW)
        self.documents = documents


@dataclass(frozen=True)
class Survey:
    """What the examples of one template say of all candidates, ranked; rules are chosen from it for any threshold."""

    ranked: Mapping[Attribute, Sequence[tuple[float, Tally]]]
    general: Sequence[Rule] = ()

    def rules(self, threshold: float = THRESHOLD) -> list[Rule]:
        """The smallest set of rules per attribute that votes best, none below the threshold."""
        chosen = [rule for ranked in self.ranked.values() for rule in choose(ranked, threshold)]
        return chosen + at_hand([rule for rule in self.general if rule.score >= threshold], chosen)


def survey(
    examples: Sequence[Example], documents: Sequence[Document], elsewhere: Sequence[Example]
) -> Survey:
    """Run all candidates of one template on all its examples; `elsewhere` are those of the shop's other templates.

    Raises SlowPages where one of the pages takes too long.
    """
    opened = Opened(examples, documents)
    try:
        return _of_all(opened, elsewhere)
    except SlowPage as error:
        raise SlowPages([page.document for page in opened.pages if page.is_slow]) from error


def _of_all(opened: Opened, elsewhere: Sequence[Example]) -> Survey:
    examples, documents = opened.examples, opened.documents
    looked_at = _enough(opened)
    located = [places(opened.documents[place], wanted) for place, wanted in looked_at.items()]
    opened.unseen = {
        attribute: [
            place
            for place, found in zip(looked_at, located, strict=True)
            if found.get(attribute) == []
        ]
        for attribute in NUMBERS
    }
    ranked = {}
    for attribute in Attribute:
        found = [one.get(attribute, []) for one in located]
        promising = _heat(_candidates(attribute, found, list(looked_at), opened), opened)
        tallies = [tally(candidate, opened) for candidate in promising]
        ranked[attribute] = rank(sound(tallies, examples, elsewhere))
    best = (one.candidate.selector for of_it in ranked.values() for _, one in of_it[:MOST_BESIDE])
    codes = [one for _, one in ranked[Attribute.EAN] if one.hits]
    read = {place for one in codes for place, right in enumerate(one.right) if right}
    general = [
        *unspoken(examples, documents, best),
        *usual_codes(examples, documents, elsewhere, read),
    ]
    general += of_any_length((one.candidate.selector for one in codes), examples, documents)
    general += usual_title(examples, documents)
    return Survey(ranked, general)


def _enough(opened: Opened) -> dict[int, Wanted]:
    """What is looked for on which examples: each attribute on so many, spread over all.

    What leads to a value on twenty pages leads there on fifty; what it is worth is counted on all.
    """
    shown: Counter[Attribute] = Counter()
    wanted = {}
    for place in (
        place for start in range(STRIDE) for place in range(start, len(opened.examples), STRIDE)
    ):
        known = opened.examples[place].known
        short = [attribute for attribute in known if shown[attribute] < ENOUGH_LOOKED_AT]
        if short:
            shown.update(short)
            wanted[place] = Wanted(
                {name: known[name] for name in short}, opened.documents[place].base
            )
    return dict(sorted(wanted.items()))


def _heat(candidates: Sequence[Candidate], opened: Opened) -> Sequence[Candidate]:
    """Where there are many examples, those candidates that do best on a few of them, some of each spot of the page.

    Menus speak on few pages, and are few themselves: all of them go on.
    """
    attribute = candidates[0].attribute if candidates else None
    known = [place for place, example in enumerate(opened.examples) if attribute in example.known]
    if len(known) <= ENOUGH_FOR_ALL or len(candidates) <= BEST_OF_HEAT:
        return candidates
    of_menus = [one for one in candidates if one.is_of_menu]
    of_places = [one for one in candidates if not one.is_of_menu]
    different = _different(
        [tally(candidate, opened, _spread(known, FIRST_HEAT)) for candidate in of_places]
    )
    kept: Counter[str] = Counter()
    best, others = list[Tally](), list[Tally]()
    for _, one in rank([tally(candidate, opened, _spread(known, HEAT)) for candidate in different]):
        place = spot(one.candidate.selector)
        is_best = one.hits > 0 and kept[place] < BEST_OF_SPOT and len(best) < BEST_OF_HEAT
        kept[place] += is_best
        (best if is_best else others).append(one)
    beside = [*_right_elsewhere(others, best), *_no_guesses(others, best)]
    return [*dict.fromkeys(one.candidate for one in [*best, *beside]), *of_menus]


def _right_elsewhere(others: Sequence[Tally], best: Sequence[Tally]) -> list[Tally]:
    """Of the others some that are right on several examples on which the best of one spot at most are.

    These may be of another layout.
    """
    times = [sum(map(bool, right)) for right in zip(*(one.right for one in best), strict=True)]
    rest = [place for place, count in enumerate(times) if count <= BEST_OF_SPOT]
    found = (one for one in others if sum(bool(one.right[place]) for place in rest) >= SEVERAL)
    return list(islice(found, MOST_ELSEWHERE))


def _no_guesses(others: Sequence[Tally], best: Sequence[Tally]) -> list[Tally]:
    """Of the others the best that are no guesses, where all those are that do best: more is asked of guesses later."""
    if not all(one.candidate.is_guess for one in best):
        return []
    return list(
        islice((one for one in others if one.hits and not one.candidate.is_guess), MOST_ELSEWHERE)
    )


def _spread(places: Sequence[int], most: int) -> Sequence[int]:
    return places[:: max(1, len(places) // most)][:most]


def _different(tallies: Sequence[Tally]) -> list[Candidate]:
    """Of the candidates that found the same at the same spot the most plausible ones: they will go on doing so."""
    alike: Counter[tuple[object, ...]] = Counter()
    kept = []
    for _, one in rank(tallies):
        found = (one.keys, spot(one.candidate.selector))
        alike[found] += 1
        if alike[found] <= BEST_OF_SPOT:
            kept.append(one.candidate)
    return kept


def _candidates(
    attribute: Attribute, found: Sequence[Sequence[Place]], looked_at: Sequence[int], opened: Opened
) -> list[Candidate]:
    """Whole values as they stand, and texts that contain one with the cuts that their surroundings suggest."""
    examples = [opened.examples[place] for place in looked_at]
    pages = [opened.pages[place] for place in looked_at]
    ways = Ways(attribute, found, pages, several_of(attribute))
    whole = ways.to_whole(MOST_CANDIDATES)
    looks = trimming.by_look(attribute, _known(attribute, opened.examples))
    made = {Candidate(attribute, selector, form=form): None for selector, form in whole}
    if attribute is Attribute.PRICE:
        beside = [one for one, _ in (*whole[:MOST_UNSTRUCK], *ways.to_parts(MOST_UNSTRUCK))]
        made |= {Candidate(attribute, one): None for one in unstruck(beside, pages)}
    if attribute in LISTED:
        made |= {
            Candidate(attribute, selector): None
            for selector in menus(_known(attribute, examples), found, pages)
        }
        for selector, _ in whole[:MOST_BY_LOOK]:
            by_look = _telling(looks, selector, attribute, looked_at, opened)
            made |= {Candidate(attribute, selector, trim): None for trim in by_look}
    if attribute is Attribute.CATEGORY:
        known = [one.known.get(attribute, ()) for one in examples]
        made |= {Candidate(attribute, selector): None for selector in trails(known, pages)}
    if attribute in CUTTABLE:
        for selector, form in ways.to_parts(MOST_WITH_CUTS):
            around = _arounds(attribute, form, opened.raw(selector, looked_at), examples)
            fitting = _telling(looks, selector, attribute, looked_at, opened) if around else ()
            for trim in [*trimming.trims(attribute, around), *fitting]:
                made[Candidate(attribute, selector, trim, "plain" if trim.words else form)] = None
    if attribute is Attribute.IMAGE:
        for selector, form in ways.to_parts(MOST_SHARED):
            shown = _shared(opened.raw(selector, looked_at), opened, looked_at)
            made |= {
                Candidate(attribute, selector, trim, form): None for trim in around_pictures(shown)
            }
    if attribute in LISTED:
        sayings = [(one.selector, one.trim) for one in made if not one.is_guess]
        made |= dict.fromkeys(meant(attribute, sayings, opened))
    return list(made)


def _shared(
    raws: Sequence[str | None], opened: Opened, looked_at: Sequence[int]
) -> list[Parameter]:
    """The parameters of links that say an example's known picture."""
    found = []
    for raw, place in zip(raws, looked_at, strict=True):
        known = opened.examples[place].known.get(Attribute.IMAGE)
        if raw and known:
            wanted = Wanted({Attribute.IMAGE: known}, opened.documents[place].base)
            found += [
                parameter for parameter in pictures_in(raw) if wanted.is_picture(parameter[1])
            ]
    return found


def _known(attribute: Attribute, examples: Sequence[Example]) -> list[str]:
    return [example.known[attribute][0] for example in examples if example.known.get(attribute)]


def _telling(
    looks: Sequence[Trim],
    selector: AnySelector,
    attribute: Attribute,
    looked_at: Sequence[int],
    opened: Opened,
) -> Iterator[Trim]:
    """The cuts by look as they are for that selector's texts: without words that say nothing there."""
    raws = opened.raw(selector, looked_at)
    known = [opened.examples[place].known.get(attribute) for place in looked_at]
    said = [
        (raw, values[0])
        for raw, values in zip(raws, known, strict=True)
        if raw is not None and values
    ]
    for trim in looks:
        left = trimming.telling(trim, said) if trim.words else trim
        if left.words or not trim.words:
            yield left


def _arounds(
    attribute: Attribute, form: Form, raws: Sequence[str | None], examples: Sequence[Example]
) -> list[trimming.Around]:
    pairs = zip(raws, examples, strict=True)
    found = (
        trimming.around(raw, _spelled(one.known[attribute], form))
        for raw, one in pairs
        if raw is not None and attribute in one.known
    )
    return [one for one in found if one is not None]


def _spelled(values: Sequence[str], form: Form) -> Sequence[str]:
    return [slug for value in values for slug in slugs(value)] if form == "slug" else values
