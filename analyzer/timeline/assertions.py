"""What did agents say, ready for a search? Each utterance in plain lower case, and its sentences once somebody asks.

Most texts hold none of the words that a rule looks for: `mentions` is what keeps them cheap.
"""

from collections.abc import Iterable
from functools import cached_property

from analyzer.timeline.conversation import Utterance
from analyzer.timeline.sentences import plain, sentences

__all__ = ["Assertion", "assertions_of"]

_MOST_TEXT = 20_000


class Assertion:
    """One utterance of an agent."""

    def __init__(self, said: Utterance) -> None:
        """Take the utterance."""
        self.said = said
        self.text = plain(said.text[:_MOST_TEXT])
        """Quotation marks straight, the first 20,000 characters."""
        self.lower = self.text.lower()

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Its sentences."""
        return tuple(sentences(self.text))

    def mentions(self, parts: Iterable[str]) -> bool:
        """Return whether it holds one of these pieces of text, given in lower case."""
        return any(map(self.lower.__contains__, parts))


def assertions_of(said: Iterable[Utterance]) -> tuple[Assertion, ...]:
    """Return the utterances for a search."""
    return tuple(map(Assertion, said))
