"""Notices: reasons why a shop needs a look, each with a sentence and the next step."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from catalog.language.sentences import Argument, Sentence, gettext_noop


class AttentionKind(StrEnum):
    """Reason why a shop needs a look, the most urgent first."""

    FAILED = "failed"
    INTERRUPTED = "interrupted"
    NO_IMPORT = "no import"
    COVERAGE = "coverage fell"
    IMPORT_SHRANK = "import shrank"
    IMPORT_REJECTED = "import rows refused"
    DRIFT = "drift"
    MISSING = "more missing"


SENTENCES = {
    AttentionKind.FAILED: gettext_noop("The last run failed: {reason}"),
    AttentionKind.INTERRUPTED: gettext_noop("The last run stopped before its end: {reason}"),
    AttentionKind.NO_IMPORT: gettext_noop(
        "Nothing was imported, so every offer counts as missing."
    ),
    AttentionKind.COVERAGE: gettext_noop(
        "The crawl answered for {share} of the pages, {before} in the run before."
    ),
    AttentionKind.IMPORT_SHRANK: gettext_noop(
        "The last import has {rows} offers, the one before had {before}."
    ),
    AttentionKind.IMPORT_REJECTED: gettext_noop(
        "{bad} of {rows} rows of the last import were refused."
    ),
    AttentionKind.DRIFT: gettext_noop(
        "The pages of the shop have changed: the rules were learnt again."
    ),
    AttentionKind.MISSING: gettext_noop(
        "{missing} offers are missing, {before} in the run before."
    ),
}
NEXT_STEPS = {
    AttentionKind.FAILED: gettext_noop("See the run, then run the shop again."),
    AttentionKind.INTERRUPTED: gettext_noop("Resume the run."),
    AttentionKind.NO_IMPORT: gettext_noop("Import the shop's feed."),
    AttentionKind.COVERAGE: gettext_noop("See which pages failed, and why."),
    AttentionKind.IMPORT_SHRANK: gettext_noop("Compare the feed with the one before."),
    AttentionKind.IMPORT_REJECTED: gettext_noop("See the rows that were refused."),
    AttentionKind.DRIFT: gettext_noop("Check the new rules."),
    AttentionKind.MISSING: gettext_noop("See the new findings."),
}
# Page of the shop that a step leads to.
_PAGES = {
    AttentionKind.FAILED: "runs",
    AttentionKind.INTERRUPTED: "runs",
    AttentionKind.NO_IMPORT: "imports",
    AttentionKind.COVERAGE: "runs",
    AttentionKind.IMPORT_SHRANK: "imports",
    AttentionKind.IMPORT_REJECTED: "imports",
    AttentionKind.DRIFT: "rules",
    AttentionKind.MISSING: "findings?change=new",
}


@dataclass(frozen=True)
class Notice:
    """A reason why a shop needs a look; `subject` names the run or import that it is about."""

    kind: AttentionKind
    subject: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)

    @property
    def severity(self) -> int:
        """The place of the kind in the order of urgency, from 0."""
        return list(AttentionKind).index(self.kind)

    @property
    def sentence(self) -> Sentence:
        """The reason in one sentence."""
        return Sentence(SENTENCES[self.kind], self.arguments)

    @property
    def next_step(self) -> str:
        """The next step, as a message to translate."""
        return NEXT_STEPS[self.kind]

    @property
    def page(self) -> str:
        """The page of the shop that the next step leads to."""
        return _PAGES[self.kind]
