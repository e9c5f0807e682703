"""A training example whose page is open."""

from dataclasses import dataclass

from parser.page.document import Document
from rules_generator.training.examples import Example


@dataclass(frozen=True)
class TrainingExample:
    """An example with its page open."""

    example: Example
    document: Document

    @property
    def address(self) -> str:
        """The URL that stands for its page."""
        return self.example.page.address
