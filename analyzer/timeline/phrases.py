"""Do two texts share a run of words? What tells a quotation from two texts on one subject."""

from collections.abc import Collection
from itertools import islice

from analyzer.session.accessors import ABSENT
from analyzer.timeline.heard import Heard
from analyzer.timeline.telling import sequence, text_in

__all__ = ["Phrases"]

_LENGTH = 3
_TELLING = 2  # of the words of a phrase: `in order to` quotes nobody
_MOST_TEXT = 4_000  # characters that are compared
_MOST_COMPARISONS = 2_000  # a run; each costs what its texts are long

_Phrase = tuple[str, ...]


class Phrases:
    """Compares texts, the phrases of each found once."""

    def __init__(self) -> None:
        self._known: dict[int, frozenset[_Phrase]] = {}
        self._later: tuple[int, tuple[_Phrase, ...]] = (-1, ())
        self._left = _MOST_COMPARISONS

    def shared(self, output: Heard, later: Heard, words: Collection[str]) -> str | None:
        """Return the first phrase of the later text that the output holds too, or None; `words`: what both hold."""
        if len(words) < _TELLING or self._left == 0 or ABSENT in (output.value, later.value):
            return None
        self._left -= 1
        known = self._known.get(output.position)
        if known is None:
            known = self._known[output.position] = frozenset(_phrases(output))
        if self._later[0] != later.position:
            self._later = (later.position, _phrases(later))
        telling = frozenset(words)
        for phrase in self._later[1]:
            if phrase in known and sum(map(telling.__contains__, phrase)) >= _TELLING:
                return _written(phrase)
        return None


def _phrases(heard: Heard) -> tuple[_Phrase, ...]:
    words = sequence(text_in(heard.value)[:_MOST_TEXT])
    return tuple(zip(*(islice(words, start, None) for start in range(_LENGTH)), strict=False))


def _written(phrase: _Phrase) -> str:
    spaced = any(len(word) > 1 for word in phrase)
    return (" " if spaced else "").join(phrase)
