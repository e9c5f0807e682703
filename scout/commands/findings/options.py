"""The filters of findings as options, the same for `scout offers`, `review` and `report`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from catalog.models import Shop, Verdict
    from catalog.storage.findings import FindingFilter
    from catalog.storage.store import Store
    from scout.offer_filters import FilterTexts

MissingOption = Annotated[
    bool, typer.Option("--missing", help="Offers that the catalog lacks (the default).")
]
ListedOption = Annotated[bool, typer.Option("--listed", help="Offers that the catalog lists.")]
UnsureOption = Annotated[
    bool, typer.Option("--unsure", help="Offers that may be listed or missing.")
]
IgnoredOption = Annotated[
    bool, typer.Option("--ignored", help="Offers that a reviewer asked to leave out.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All offers, the ignored ones marked.")]
CategoryOption = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="A category or its first steps: 'Garden > Hoses'."),
]
BrandOption = Annotated[str | None, typer.Option(metavar="NAME", help="A brand.")]
PriceOption = Annotated[
    str | None, typer.Option(metavar="A-B", help="A price range: 10-49.90, 100- or -5.")
]
CauseOption = Annotated[str | None, typer.Option(metavar="TEXT", help="Part of a cause's name.")]
SinceOption = Annotated[
    str | None,
    typer.Option(
        metavar="RUN|DATE",
        help="Only findings that got their verdict after that run ('last': the one before the "
        "last) or since that date.",
    ),
]
ChangeOption = Annotated[
    str | None,
    typer.Option(
        metavar="CHANGE",
        help="Since the previous run: new, still, reappeared, resolved, unsure or gone.",
    ),
]


@dataclass(frozen=True)
class VerdictFlags:
    """The flags of verdicts as given; none of them: missing offers."""

    missing: bool = False
    listed: bool = False
    unsure: bool = False
    ignored: bool = False
    all: bool = False

    @property
    def given(self) -> list[str]:
        """Names of the flags that are given."""
        return [name for name, is_given in vars(self).items() if is_given]

    def verdicts(self) -> "set[Verdict]":
        """Return the verdicts of the flags."""
        from catalog.models import Verdict

        flags = {
            Verdict.MISSING: self.missing,
            Verdict.LISTED: self.listed,
            Verdict.UNSURE: self.unsure,
        }
        return {verdict for verdict, is_given in flags.items() if is_given or self.all}


def make_filter(
    store: "Store", shop: "Shop", flags: VerdictFlags, texts: "FilterTexts"
) -> "FindingFilter":
    """Make the filter of the flags and options of a command. Raises UsageError."""
    from catalog.models import Verdict
    from scout import offer_filters

    verdicts = flags.verdicts()
    # Offers with one of these changes are not missing any more.
    if not flags.given and texts.change in ("resolved", "unsure"):
        verdicts = set(Verdict)
    only_ignored = flags.ignored and not verdicts
    return offer_filters.parse_filters(
        store,
        shop,
        texts,
        verdicts=set() if only_ignored else verdicts or {Verdict.MISSING},
        includes_ignored=flags.ignored or flags.all,
        only_ignored=only_ignored,
    )
