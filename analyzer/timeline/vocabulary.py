"""Which texts and which tokens do the values of a run hold? Each is read once, whoever asks for it."""

from collections.abc import Set as AbstractSet

from analyzer.session.model import Json
from analyzer.timeline.telling import text_in, tokens, weight

__all__ = ["Vocabulary"]

_MOST_KEPT = 4_000_000
"""Characters of texts whose tokens are kept; those of later texts are found anew."""


class Vocabulary:
    """Remembers texts and their tokens; what it returns is everybody's and must not be changed."""

    def __init__(self) -> None:
        """Begin with no text known."""
        self._tokens: dict[str, AbstractSet[str]] = {}
        self._telling: dict[str, AbstractSet[str]] = {}
        self._texts: dict[int, tuple[Json, str]] = {}
        """By identity, with the value, so that no other takes its place."""
        self._room = _MOST_KEPT

    def text_in(self, value: Json) -> str:
        """Return the texts and numbers of a value that is not changed any more, as `telling.text_in` does."""
        known = self._texts.get(id(value))
        if known is not None:
            return known[1]
        text = text_in(value)
        if self._room > 0:
            self._room -= len(text)
            self._texts[id(value)] = (value, text)
        return text

    def of(self, text: str) -> AbstractSet[str]:
        """Return the tokens of a text, common words left out."""
        found = self._tokens.get(text)
        if found is None:
            found = tokens(text)
            if self._room > 0:
                self._room -= len(text)
                self._tokens[text] = found
        return found

    def telling(self, text: str) -> AbstractSet[str]:
        """Return those of its tokens that would be known again elsewhere."""
        found = self._telling.get(text)
        if found is None:
            found = {token for token in self.of(text) if weight(token)}
            if text in self._tokens:
                self._telling[text] = found
        return found
