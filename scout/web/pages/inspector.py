"""The inspector: a stored page beside the votes of every rule; pick, test, save and undo rules."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Form
from pydantic import BaseModel, Field
from sqlmodel import col, select
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from catalog.errors import RuleError, RulesChanged, UsageError
from catalog.models import MAX_INTEGER, Attribute, Page, PageKind, Shop, ShopOffer
from scout.inspect.page_inspection import InspectedVote, Inspection
from scout.inspect.page_process import call_on_store
from scout.inspect.review_decisions import parse_attribute
from scout.inspect.rule_admin import load_rules, save_rules, set_manual_rule
from scout.inspect.rule_forms import WrittenForm, WrittenRule
from scout.inspect.rule_trial import measured_rule, try_manual_rule
from scout.inspect.snapshots import SNAPSHOT_HEADERS, read_snapshot
from scout.inspect.stored_pages import (
    PickedPlace,
    mark_stored_page,
    suggest_selectors,
    view_stored_page,
)
from scout.web.access.guard import Editor, Viewer, page_router
from scout.web.context import Context, Message
from scout.web.plain_text import PlainText, ShortText
from scout.web.query_filters import parse_number, parse_row_id
from scout.web.rendering import path_part
from scout.web.security import STORED_PAGE_POLICY
from scout.web.stored_rows import RowId

HISTOGRAM_STEPS = 20
"""Steps of the histogram of confidences that the slider reads: 0.05 each."""

_CONFIDENCE_PAGES = 5000  # pages whose confidences are counted at most
_LIST_SIZE = 30  # pages that are offered for inspection
_SHOWN_PAGES = 60  # pages of a trial that are listed

router = page_router()


class RuleForm(BaseModel):
    """A rule as the form of the inspector sends it, with the version that it was made from.

    Without a version, as of a script, the rule is saved over any.
    """

    attribute: ShortText
    css: PlainText = Field("", max_length=1000)
    name: ShortText = ""
    block: ShortText = ""
    path: ShortText = ""
    join: bool = False
    behind: ShortText = ""
    left: ShortText = ""
    right: ShortText = ""
    form: WrittenForm = "plain"
    template: ShortText = ""
    page: int = Field(0, ge=0, le=2**63 - 1)
    based_on: int | None = Field(None, ge=1, le=MAX_INTEGER)
    force: bool = False

    def written(self) -> WrittenRule:
        """Return the rule as it is written. Raises UsageError for an unknown attribute."""
        return WrittenRule(
            parse_attribute(self.attribute),
            self.css,
            self.name,
            self.block,
            self.path,
            self.join,
            self.behind,
            self.left,
            self.right,
            self.form,
        )


@dataclass(frozen=True)
class ValueBar:
    """A value that rules have voted for: the sum of their weights, relative to the greatest."""

    value: str
    votes: int
    weight: float
    share: float
    won: bool


@dataclass(frozen=True)
class AttributePanel:
    """The inspector's view of an attribute: the winner, the values voted for, every vote.

    `places` are those of the votes in the list of all votes of the page. `histogram` counts the
    offers of the shop by the confidence of this attribute, in steps of 0.05.
    """

    attribute: str
    winner: dict[str, Any]
    known: Sequence[str]
    bars: Sequence[ValueBar]
    votes: Sequence[tuple[int, InspectedVote]]
    threshold: float
    histogram: Sequence[int]


@router.get("/shops/{name}/inspect")
def show_inspection(name: str, context: Viewer, url: str = "") -> Response:
    """Show a stored page with the votes of every rule; without one, pages to choose from.

    Other pages and files are not opened.
    """
    shop = context.shop(name)
    page = _find_page(context, shop, url)
    if page is None:
        return _show_choice(context, shop)
    view = call_on_store(view_stored_page, context.settings, shop, page.id or 0, page.url)
    return context.render(
        "inspector.html",
        shop=shop,
        page_id=page.id,
        stored=page,
        page=view.inspection,
        panels=_panels(context, shop, view.inspection),
        blocks=view.blocks,
        attributes=tuple(Attribute),
        templates=sorted(view.inspection.likeness),
        base=f"/shops/{path_part(shop.name)}/inspect",
    )


def _find_page(context: Context, shop: Shop, url: str) -> Page | None:
    """Return the stored page that the query names by its URL or row. Raises HTTPException 404."""
    page_id = parse_row_id("page", context.request.query_params.get("page", ""))
    if not url and not page_id:
        return None
    stored = select(Page).where(Page.shop_id == shop.id, col(Page.body).is_not(None))
    stored = stored.where(Page.url == url) if url else stored.where(Page.id == page_id)
    with context.store.read() as session:
        page = session.exec(stored).first()
    if page is None:
        raise HTTPException(404, "no such page was crawled")
    return page


def _show_choice(context: Context, shop: Shop) -> Response:
    newest = (
        select(Page)
        .where(Page.shop_id == shop.id, col(Page.body).is_not(None))
        .where(Page.kind == PageKind.OFFER)
        .order_by(col(Page.id))
        .limit(_LIST_SIZE)
    )
    with context.store.read() as session:
        pages = session.exec(newest).all()
    return context.render("inspector_choice.html", shop=shop, pages=pages)


def _panels(context: Context, shop: Shop, inspection: Inspection) -> list[AttributePanel]:
    votes: dict[str, list[tuple[int, InspectedVote]]] = defaultdict(list)
    for place, vote in enumerate(inspection.lines):
        votes[vote.attribute].append((place, vote))
    histograms = _confidence_histograms(context, shop)
    panels = []
    for attribute, winner in inspection.winners.items():
        threshold = context.settings.confidence.get(Attribute(attribute), 0.0)
        panels.append(
            AttributePanel(
                attribute,
                winner,
                inspection.known.get(attribute, ()),
                _value_bars(votes[attribute]),
                votes[attribute],
                float(threshold),
                histograms.get(attribute, [0] * HISTOGRAM_STEPS),
            )
        )
    return panels


def _value_bars(votes: Sequence[tuple[int, InspectedVote]]) -> list[ValueBar]:
    """Return the values voted for, with the sums of the weights, the greatest first."""
    weights: dict[str, float] = defaultdict(float)
    numbers: Counter[str] = Counter()
    winning: set[str] = set()
    for _, vote in votes:
        if vote.value is None:
            continue
        weights[vote.value] += vote.weight
        numbers[vote.value] += 1
        if vote.won:
            winning.add(vote.value)
    greatest = max(weights.values(), default=0.0) or 1.0
    bars = [
        ValueBar(value, numbers[value], weight, weight / greatest, value in winning)
        for value, weight in weights.items()
    ]
    return sorted(bars, key=lambda bar: (not bar.won, -bar.weight))


def _confidence_histograms(context: Context, shop: Shop) -> dict[str, list[int]]:
    """Count a shop's offers by attribute and confidence, for the slider."""
    readings = select(ShopOffer.readings).where(ShopOffer.shop_id == shop.id)
    histograms: dict[str, list[int]] = defaultdict(lambda: [0] * HISTOGRAM_STEPS)
    with context.store.read() as session:
        for stored in session.exec(readings.limit(_CONFIDENCE_PAGES)):
            for attribute, reading in (stored or {}).items():
                weight = reading.get("weight")
                if isinstance(weight, int | float):
                    step = min(HISTOGRAM_STEPS - 1, max(0, int(weight * HISTOGRAM_STEPS)))
                    histograms[attribute][step] += 1
    return histograms


@router.get("/shops/{name}/inspect/{page_id}/view")
def show_stored_page(name: str, page_id: RowId, context: Viewer) -> Response:
    """Send a stored page without scripts, links or network, its elements numbered."""
    shop = context.shop(name)
    markup = call_on_store(mark_stored_page, context.settings, shop, page_id)
    headers = {
        "content-security-policy": STORED_PAGE_POLICY,
        "x-frame-options": "SAMEORIGIN",
    }
    return HTMLResponse(markup, headers=headers)


@router.get("/snapshots/{page_id}")
def show_snapshot(page_id: RowId, context: Viewer) -> Response:
    """Send a stored page as it was fetched, in a sandbox without scripts and network."""
    try:
        snapshot = call_on_store(read_snapshot, context.settings, page_id)
    except UsageError as error:
        raise HTTPException(404, str(error)) from error
    return Response(snapshot.markup, headers=SNAPSHOT_HEADERS)


@router.get("/shops/{name}/inspect/{page_id}/suggest")
def suggest(
    name: str,
    page_id: RowId,
    context: Editor,
    attribute: ShortText,
    node: str = "",
    css: str = "",
    block: str = "",
    path: str = "",
) -> Response:
    """Suggest selectors for a picked element, or for a value in a block of data."""
    shop = context.shop(name)
    wanted = parse_attribute(attribute)
    number = parse_number(context.request, "node", 0)
    place = PickedPlace(number, css[:500], block[:200], path[:500])
    known, suggestions = call_on_store(
        suggest_selectors, context.settings, shop, page_id, wanted, place
    )
    return context.render_part(
        "inspector_rule.html",
        "suggestions",
        suggestions=suggestions,
        known=known,
        attribute=str(wanted),
    )


@router.post("/shops/{name}/inspect/test")
def test_rule(name: str, context: Editor, form: Annotated[RuleForm, Form()]) -> Response:
    """Read twenty pages and those of all known offers by a rule, before it is saved."""
    shop = context.shop(name)
    rule = form.written().rule()
    trial = call_on_store(try_manual_rule, context.settings, shop, rule, form.template or None)
    warning = None
    try:
        trial.check()
    except RuleError as error:
        warning = str(error)
    ordered = sorted(
        trial.pages, key=lambda page: (page.is_right is not False, page.before == page.after)
    )
    return context.render_part(
        "inspector_rule.html",
        "trial",
        trial=trial,
        pages=ordered[:_SHOWN_PAGES],
        warning=warning,
    )


@router.post("/shops/{name}/inspect/save")
def save_rule(name: str, context: Editor, form: Annotated[RuleForm, Form()]) -> Response:
    """Save a rule by hand, in place of the learnt ones of its attribute; it is tested first."""
    shop = context.shop(name)
    rule = form.written().rule()
    trial = call_on_store(try_manual_rule, context.settings, shop, rule, form.template or None)
    if not form.force:
        trial.check()
    stored = load_rules(context.store, shop)
    rules = set_manual_rule(stored, measured_rule(rule, trial), form.template or None)
    origin = f"{rule.attribute.value} set by hand"
    try:
        version = save_rules(context.store, shop, rules, origin, based_on=form.based_on)
    except RulesChanged as error:
        if not context.is_htmx:
            raise
        # The form keeps its input, and is based on the newest version from now on.
        hint = context.gettext("Save again to add your rule to that version.")
        return context.render_part(
            "inspector_rule.html",
            "based_on",
            status=409,
            messages=[Message(f"{error}. {hint}", "bad")],
            headers={"hx-reswap": "none"},
            version=stored.version,
        )
    context.audit("rule set", shop.name, attribute=str(rule.attribute), version=version)
    text = context.gettext("The rule is saved as version {version}. The next run reads by it.")
    message = Message(
        text.format(version=version),
        action=context.gettext("Undo"),
        action_url=f"/shops/{path_part(shop.name)}/rules/restore"
        f"?version={stored.version}&based_on={version}",
    )
    link = f"/shops/{path_part(shop.name)}/inspect?page={form.page}" if form.page else None
    return context.redirect(link or f"/shops/{path_part(shop.name)}/rules", message)
