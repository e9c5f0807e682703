"""A shop's templates, and the signature by which each one's offer pages are recognised.

Pages of one template share most marks of their fingerprint (`parser.templates.template_match`), so
pages are clustered by the Jaccard similarity of their fingerprints, with the first page of a
cluster as its leader. A mark's weight for a template is its rarity on the shop's other pages: marks
of header and footer stand everywhere and weigh nothing.

The other pages are not labelled, and most of a crawl may be offers. Pages that show clearly fewer
of the core marks than the examples do are reliable negatives, as in learning from positive and
unlabelled examples (Liu, Lee, Yu, Li: Partially Supervised Classification of Text Documents, 2002,
3.2). Were rarity measured on offers too, a few pages of sold-out offers would make one mark of all
others the only weighty one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import ge
from statistics import median

from parser.rules.model import Signature
from parser.templates.template_match import (
    LOOKUP_COSTS,
    lookup_cost,
    match_rank,
    signature_similarity,
)

Fingerprint = frozenset[str]

# Least Jaccard similarity of a page to the leader of its cluster.
MIN_SIMILARITY = 0.72
# Share of a cluster's pages that a core mark stands on.
CORE_SHARE = 0.9
# Share of the examples' core marks below which a page is a reliable negative.
NEGATIVE_SHARE = 0.9
# Caps: templates of a shop, marks of a signature.
MAX_TEMPLATES = 8
MAX_MARKS = 400
# Pages from which on a cluster is a template of its own.
MIN_CLUSTER_PAGES = 3
# Marks that a cheap signature needs at least.
MIN_CHEAP_MARKS = 12
# Weight below which a mark is left out.
MIN_WEIGHT = 0.02
# Weight of a mark that all templates of the shop share, where no other page is known.
SHARED_WEIGHT = 0.1
# Least similarity to a signature that a page is recognised by.
MIN_RECOGNISED = 0.45
# Width of a gap in similarities that separates offers from other pages.
WIDE_GAP = 0.15
# One page in so many may be less typical than the threshold allows for.
UNTYPICAL_ONE_IN = 20


@dataclass(frozen=True)
class PageCluster:
    """Indices of the examples of one template, and of the strays among them."""

    members: tuple[int, ...]
    strays: tuple[int, ...] = ()


def cluster_pages(pages: Sequence[Fingerprint]) -> list[PageCluster]:
    """Cluster pages by template, largest first; strays join the most similar cluster."""
    leaders: list[Fingerprint] = []
    members: list[list[int]] = []
    for index, page in enumerate(pages):
        similarities = [jaccard(page, leader) for leader in leaders]
        highest = max(similarities, default=0.0)
        if highest >= MIN_SIMILARITY or len(leaders) >= MAX_TEMPLATES:
            members[similarities.index(highest)].append(index)
        else:
            leaders.append(page)
            members.append([index])
    return _merge_strays(pages, leaders, members)


def _merge_strays(
    pages: Sequence[Fingerprint], leaders: list[Fingerprint], members: list[list[int]]
) -> list[PageCluster]:
    by_size = sorted(range(len(leaders)), key=lambda index: -len(members[index]))
    large = [index for index in by_size if len(members[index]) >= MIN_CLUSTER_PAGES]
    if not large:
        return [PageCluster(tuple(range(len(pages))))] if pages else []
    strays = defaultdict[int, list[int]](list)
    for index in by_size[len(large) :]:
        for page in members[index]:
            best = max(large, key=lambda cluster: jaccard(pages[page], leaders[cluster]))
            strays[best].append(page)
    return [PageCluster((*members[index], *strays[index]), tuple(strays[index])) for index in large]


def jaccard(a: Fingerprint, b: Fingerprint) -> float:
    """Return the share of common marks in all marks of two pages."""
    return len(a & b) / len(a | b) if a or b else 1.0


def template_signatures(
    examples: Sequence[Fingerprint],
    clusters: Sequence[PageCluster],
    background: Sequence[Fingerprint],
) -> list[Signature]:
    """Learn the signature of each cluster; `background` is an unlabelled sample of the shop's
    pages.

    With one cluster and no other page there is nothing to distinguish: its signature is empty.
    Names and data are a tenth of a page's marks, ids another tenth; where these separate the same
    pages as clearly, the dearer marks are left out, so that a crawl of thousands of pages need not
    collect them.
    """
    if len(clusters) == 1 and not background:
        return [Signature()]
    complete = _signatures(examples, clusters, background)
    for cost in sorted({0, *LOOKUP_COSTS.values()})[:-1]:
        cheap = _signatures(_up_to_cost(cost, examples), clusters, _up_to_cost(cost, background))
        if _separate_equally(cheap, complete, [*examples, *background]):
            return cheap
    return complete


def _up_to_cost(cost: int, pages: Sequence[Fingerprint]) -> list[Fingerprint]:
    """Return the pages' marks that cost no more than `cost`."""
    cheap = []
    for page in pages:
        cheap.append(frozenset(mark for mark in page if lookup_cost(mark) <= cost))
    return cheap


def _separate_equally(
    cheap: Sequence[Signature], complete: Sequence[Signature], pages: Sequence[Fingerprint]
) -> bool:
    """Return True if both sets of signatures recognise the same pages, by the same templates."""
    for few, full in zip(cheap, complete, strict=True):
        if not _recognises_equally(few, full, pages):
            return False
    return all(_best_signature(page, cheap) == _best_signature(page, complete) for page in pages)


def _recognises_equally(few: Signature, full: Signature, pages: Sequence[Fingerprint]) -> bool:
    """Return True if the cheap signature separates the pages as the full one does."""
    recognised: list[float] = []
    refused: list[float] = []
    for page in pages:
        is_recognised = signature_similarity(page, full) >= full.threshold
        (recognised if is_recognised else refused).append(signature_similarity(page, few))
    gap = min(recognised, default=0.0) - max(refused, default=1.0)
    if len(few.marks) < MIN_CHEAP_MARKS or gap < 2 * WIDE_GAP:
        return False
    return max(refused) < few.threshold <= min(recognised)


def _best_signature(page: Fingerprint, signatures: Sequence[Signature]) -> int | None:
    """Return the index of the signature that recognises a page best; None where none does."""
    ranks = [match_rank(page, signature) for signature in signatures]
    best = max(ranks, default=None)
    return ranks.index(best) if best is not None and best[0] else None


def _signatures(
    examples: Sequence[Fingerprint],
    clusters: Sequence[PageCluster],
    background: Sequence[Fingerprint],
) -> list[Signature]:
    cores, thresholds = [], []
    for cluster in clusters:
        pages = [examples[index] for index in cluster.members if index not in cluster.strays]
        core = _core_marks(pages)
        cores.append(core)
        thresholds.append(NEGATIVE_SHARE * median(len(core & page) for page in pages))
    negatives = [page for page in background if not _may_be_offer(page, cores, thresholds)]
    signatures = []
    for core, cluster in zip(cores, clusters, strict=True):
        other_pages = [page for index, page in enumerate(examples) if index not in cluster.members]
        rarity = _rarity(negatives) if background else _rarity_among_templates(other_pages)
        weights = _heaviest(core, rarity)
        if not weights:
            signatures.append(Signature())
            continue
        positives = [examples[index] for index in cluster.members]
        signatures.append(_signature(weights, positives, [*other_pages, *background]))
    return signatures


def _core_marks(pages: Sequence[Fingerprint]) -> Fingerprint:
    """Return the marks that nearly all pages of a template share."""
    counts = Counter(chain.from_iterable(pages))
    return frozenset(mark for mark, count in counts.items() if count >= CORE_SHARE * len(pages))


def _may_be_offer(
    page: Fingerprint, cores: Sequence[Fingerprint], thresholds: Sequence[float]
) -> bool:
    """Return True if a page shows about as many core marks of some template as its examples do."""
    counts = (len(core & page) for core in cores)
    return any(map(ge, counts, thresholds))


def _heaviest(core: Fingerprint, weight_of: Callable[[str], float]) -> dict[str, float]:
    weighted = []
    for mark in core:
        weight = round(weight_of(mark), 4)
        if weight > MIN_WEIGHT:
            weighted.append((weight, mark))
    weighted.sort(reverse=True)
    return {mark: weight for weight, mark in weighted[:MAX_MARKS]}


def _rarity(pages: Sequence[Fingerprint]) -> Callable[[str], float]:
    """Return a function from a mark to the share of pages that lack it; 1 without pages."""
    counts = Counter(chain.from_iterable(pages))
    return lambda mark: 1 - counts[mark] / max(1, len(pages))


def _rarity_among_templates(other_pages: Sequence[Fingerprint]) -> Callable[[str], float]:
    """Return the rarity of marks among other templates; shared marks keep a little weight."""
    rarity = _rarity(other_pages)
    return lambda mark: SHARED_WEIGHT + (1 - SHARED_WEIGHT) * rarity(mark)


def _signature(
    weights: dict[str, float], positives: Sequence[Fingerprint], unlabelled: Sequence[Fingerprint]
) -> Signature:
    """Make the signature with the similarity from which on a page is recognised."""
    signature = Signature(marks=weights)
    similarities = sorted(signature_similarity(page, signature) for page in positives)
    usual = similarities[len(similarities) // UNTYPICAL_ONE_IN]
    threshold = _threshold([signature_similarity(page, signature) for page in unlabelled], usual)
    return Signature(marks=weights, threshold=round(threshold, 4))


def _threshold(similarities: Sequence[float], usual: float) -> float:
    """Return the middle of the lowest wide gap in the similarities, below the `usual` one of known
    offers.

    Other pages show few of the rare marks; a sold-out offer may show a third fewer than usual.

    >>> round(_threshold([0.02, 0.03, 0.55, 0.9, 0.95, 0.97], 0.95), 3)
    0.725
    """
    inner = [share for share in similarities if MIN_RECOGNISED < share < usual]
    points = sorted({MIN_RECOGNISED, max(MIN_RECOGNISED, usual), *inner})
    widest = (0.0, MIN_RECOGNISED)
    for lower, upper in pairwise(points):
        widest = max(widest, (upper - lower, lower))
        if upper - lower >= WIDE_GAP:
            break
    width, start = widest
    return start + width / 2
