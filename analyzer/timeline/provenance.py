"""Which later event used a value of which earlier output? Found by the values themselves, in one pass.

Each output's telling tokens point to it; each later text is looked through once. Of several outputs with one value the
latest counts. What had been said before an output (the user's question, the instructions, the call's own arguments, the
agent's words) is an echo in it and proves nothing. Where content is withheld, its keyed fingerprints are the tokens.

Rules: `value-in-arguments`, `value-in-prompt` and `value-in-answer`, by where a value was seen again. That a request
hands a tool's message to the model is no use of it: it proves that the output could be used, not that it was.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from analyzer.cause import Confidence
from analyzer.session.accessors import ABSENT
from analyzer.session.model import Note
from analyzer.timeline.heard import Heard, Way
from analyzer.timeline.phrases import Phrases
from analyzer.timeline.telling import is_piece, weight
from analyzer.timeline.vocabulary import Vocabulary

__all__ = ["MOST_PARTS", "MOST_TEXT", "Provenance", "Use", "trace_values"]

MOST_TEXT = 100_000
"""Characters of one text that are looked at."""
MOST_PARTS = 64
"""Fingerprints a text has at most; one with that many may have had more words."""

_STRONG = 2
_LONG = 5  # characters by which a number or an id meets another by no accident
_FEW = 8  # tokens of an output so short that all of them together are one value, whatever they are
_SOME_WORDS, _SHARE = 3, 0.2
_SOME_PIECES = 4  # of four characters each, one further on: seven in a row
_SHOWN, _SHORT = 5, 80


class Use(Struct, frozen=True, kw_only=True):
    """A later event that holds values of an earlier output."""

    source: int
    """Position of the output, of a tool or of the memory."""
    target: int
    """Position of the later event."""
    values: tuple[str, ...]
    """What was seen again, the most telling first, in lower case, shortened."""
    confidence: Confidence
    rule: str


class Provenance(Struct, frozen=True, kw_only=True, dict=True):
    """What became of the values that outputs gave."""

    unused: tuple[int, ...] = ()
    """Positions of outputs that say something, where no later text holds the least of it, though the agent spoke."""
    invented: tuple[str, ...] = ()
    """Numbers and ids of the last answer that stand nowhere before it, sorted."""
    notes: tuple[Note, ...] = ()
    met: "tuple[_Met, ...]" = ()
    """Texts that hold so much of an output that it may be a use."""

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Who used what, in order of the later event, then of the output."""
        phrases = Phrases()
        found = (_use(one, phrases) for one in self.met)
        return tuple(use for use in found if use is not None)


def trace_values(heard: Sequence[Heard], vocabulary: Vocabulary) -> Provenance:
    """Return who used which values; linear in the texts, which come in order of their events."""
    tracer = _Tracer(vocabulary, next((one for one in reversed(heard) if one.way is Way.ANSWER), None))
    for one in heard:
        tracer.take(one)
    return tracer.provenance()


class _Output:
    """An output: what it holds that nobody had said before."""

    __slots__ = ("heard", "heirs", "seen", "size", "telling")

    def __init__(self, heard: Heard, size: int, *, telling: bool) -> None:
        self.heard = heard
        self.size = size
        self.telling = telling
        self.heirs: list[_Output] = []
        """Later outputs that hold some of its values too, and whose use may be its own."""
        self.seen = False

    def is_met_by(self, hits: list[str]) -> bool:
        """Return whether these of its tokens, met again, may be a use; remember that they were met."""
        is_whole = len(hits) == self.size <= _FEW
        told = weight(hits[0]) if len(hits) == 1 else sum(map(weight, hits))
        if told or is_whole:
            self.seen = True
        return is_whole or told >= _STRONG


class _Met(NamedTuple):
    """An output, a later text, and the tokens of the one that the other holds."""

    output: _Output
    later: Heard
    tokens: list[str]


class _Tracer:
    """Takes the texts one by one."""

    def __init__(self, vocabulary: Vocabulary, last_answer: Heard | None) -> None:
        self._vocabulary = vocabulary
        self._last_answer = last_answer
        self._outputs: list[_Output] = []
        self._source_of: dict[str, _Output] = {}
        self._said: set[str] = set()
        self._met: list[_Met] = []
        self._invented: tuple[str, ...] = ()
        self._last_unknown = -1
        self._cut: list[int] = []

    def take(self, heard: Heard) -> None:
        """Take a text."""
        found = self._tokens(heard)
        if heard.way is Way.OUTPUT:
            self._output(heard, found)
            return
        if heard is self._last_answer:
            self._invented = self._unheard(found)
        self._look_for(heard, found)
        self._said |= found

    def provenance(self) -> Provenance:
        """Return what was found."""
        return Provenance(
            unused=tuple(self._unused()), invented=self._invented, notes=self._notes(), met=tuple(self._met)
        )

    def _tokens(self, heard: Heard) -> AbstractSet[str]:
        if heard.value is not ABSENT:
            text = self._vocabulary.text_in(heard.value)
            if len(text) > MOST_TEXT:
                self._cut.append(heard.position)
                self._last_unknown = heard.position
            return self._vocabulary.of(text[:MOST_TEXT])
        if heard.parts is None or len(heard.parts) >= MOST_PARTS:
            self._last_unknown = heard.position
        return {f"#{part}" for part in heard.parts or ()}

    def _output(self, heard: Heard, found: AbstractSet[str]) -> None:
        fresh = found - self._said
        if not fresh:
            return
        known = [token for token in fresh if weight(token)]
        strong = len(known) >= _STRONG or (bool(known) and weight(known[0]) >= _STRONG)
        output = _Output(heard, len(fresh), telling=strong)
        source_of = self._source_of
        for token in source_of.keys() & known:
            earlier = source_of[token]
            if earlier.heirs[-1:] != [output]:
                earlier.heirs.append(output)
        source_of.update(dict.fromkeys(fresh if len(fresh) <= _FEW else known, output))
        self._outputs.append(output)

    def _look_for(self, heard: Heard, found: AbstractSet[str]) -> None:
        source_of = self._source_of
        if source_of.keys().isdisjoint(found):
            return
        hits_of: defaultdict[_Output, list[str]] = defaultdict(list)
        for token in source_of.keys() & found:
            hits_of[source_of[token]].append(token)
        likely = [output for output, hits in hits_of.items() if output.is_met_by(hits)]
        self._met += (_Met(output, heard, hits_of[output]) for output in sorted(likely, key=_position))

    def _unheard(self, found: AbstractSet[str]) -> tuple[str, ...]:
        said, given = self._said, self._source_of
        new = [token for token in found if not token.isalpha() and token not in said and token not in given]
        return tuple(sorted(token for token in new if token[0] != "#" and any(map(str.isdigit, token))))

    def _unused(self) -> Iterator[int]:
        """Yield the outputs that nothing speaks for; one that texts follow which nobody can read is none."""
        for output in reversed(self._outputs):
            output.seen = output.seen or any(heir.seen for heir in output.heirs)
        last_answer = -1 if self._last_answer is None else self._last_answer.position
        for output in self._outputs:
            position = output.heard.position
            if output.telling and not output.seen and self._last_unknown < position < last_answer:
                yield position

    def _notes(self) -> tuple[Note, ...]:
        if not self._cut:
            return ()
        message = f"re-use was looked for in the first {MOST_TEXT} characters of each text: {len(self._cut)} are longer"
        return (Note(code="long-text", message=message),)


def _position(output: _Output) -> int:
    return output.heard.position


def _telling_first(token: str) -> tuple[int, int, str]:
    return -weight(token), -len(token), token


def _use(met: _Met, phrases: Phrases) -> Use | None:
    output, later = met.output, met.later
    hits = sorted(met.tokens, key=_telling_first)
    confidence, values = _judge(output.size, hits, is_whole=len(hits) == output.size <= _FEW)
    if confidence is Confidence.LOW or confidence is None:
        phrase = phrases.shared(output.heard, later, hits)
        if phrase is not None:
            confidence, values = Confidence.MEDIUM, [phrase, *values]
    if confidence is None:
        return None
    return Use(
        source=output.heard.position,
        target=later.position,
        values=tuple(value.removeprefix("#")[:_SHORT] for value in values[:_SHOWN]),
        confidence=confidence,
        rule=f"value-in-{later.way.value}",
    )


def _judge(size: int, hits: list[str], *, is_whole: bool) -> tuple[Confidence | None, list[str]]:
    """Return how sure it is that these tokens of an output, the most telling first, were taken from it, and which."""
    strong = [token for token in hits if weight(token) >= _STRONG]
    if strong:
        sure = len(strong) > 1 or len(strong[0]) >= _LONG
        return Confidence.HIGH if sure else Confidence.MEDIUM, strong
    words = [token for token in hits if weight(token)]
    if is_whole and (words or hits[0].isdigit()):
        return Confidence.MEDIUM if words else Confidence.LOW, hits
    if sum(map(is_piece, words)) >= _SOME_PIECES:
        return Confidence.MEDIUM, words
    if len(words) >= _SOME_WORDS and len(words) >= _SHARE * size:
        return Confidence.LOW, words
    return None, words
