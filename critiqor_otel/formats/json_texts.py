"""JSON documents in a stream, one a line, indented or one right after another, with whatever lies between them.

A line that is a whole document is handed on as it is; only other layouts are looked into. Raw line breaks can't stand
in JSON strings, so a string that is open at the end of a line means that its document was cut there.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO, Generic, TypeVar

from msgspec import Struct

from analyzer.pattern import pattern
from critiqor_otel.errors import DecodeError
from critiqor_otel.formats.json_scanner import Scanner

__all__ = ["Fault", "Piece", "read_pieces"]

_LINE_LIMIT = 1 << 26  # a longer line is taken in parts
_BLANK = b" \t\r\n\0\xef\xbb\xbf"  # the byte order mark and what a rotation leaves behind count as blank
_BETWEEN = _BLANK + b",;"
_OPENERS, _CLOSERS = b"{[", b"}]"
_LONE_CLOSERS = (b"}", b"]")
_LONE_OPENERS = (b"{", b"[")
_ASKS_FOR_MORE = (b",", b":", b"{", b"[")
_SPACES = b" \t"
_BACKSLASH, _NEWLINE = b"\\\n"
_NEXT_BEGINS = pattern(rb"[}\]]\s*,?\s*[{\[]")
# The beginning of a JSON document, or of an object as Node.js prints it.
_PLAUSIBLE = pattern(rb"[{\[]\s*(?:$|[\"'{}\[\]]|-?\d|true|false|null|NaN|-?Infinity|[A-Za-z_$][\w$]*\s*:)")
_BREAKS_OFF = "the document breaks off before the next one"
_PART = 1 << 16
_DEEPEST = 100_000  # brackets open at once; no trace is nested so, and what follows one may be gigabytes more
_SHOWN = 24
_OPENING = 12  # bytes by which a document is known that was written on where another broke off
_T = TypeVar("_T")


class Piece(Struct, Generic[_T], frozen=True):
    """What a document became."""

    line: int
    content: _T


class Fault(Struct, frozen=True):
    """Something that is no document."""

    line: int
    reason: str
    cut: bytes | None = None
    """The beginning of a document whose end is missing."""


def read_pieces(stream: BinaryIO, parse: Callable[[bytes, int], _T]) -> Iterator[Piece[_T] | Fault]:
    """Yield what `parse` makes of each document and the line it begins on, and each fault; hold one document at a time.

    What `parse` raises as DecodeError becomes a fault.
    """
    return _Reader(parse).pieces(stream)


class _Reader(Generic[_T]):
    """Holds the lines of a document that is not complete yet."""

    def __init__(self, parse: Callable[[bytes, int], _T]) -> None:
        self._parse = parse
        self._scanner = Scanner()
        self._held: list[bytes] = []
        self._scanned = 0  # how many of the held lines the scanner has seen
        self._first_line = 0
        self._flush_left = False
        self._indented = False

    def pieces(self, stream: BinaryIO) -> Iterator[Piece[_T] | Fault]:
        number = 0
        begins = True
        while line := stream.readline(_LINE_LIMIT):
            number += begins
            if line[-1] == _BACKSLASH:  # a part must not end inside an escape
                line += stream.read(1)
            if self._indented and begins and line[0] in _SPACES:
                self._held.append(line)
            elif begins and not self._held:
                yield from self._first(number, line)
            else:
                yield from self._further(number, line, begins=begins)
            begins = line[-1] == _NEWLINE
        yield from self._settle(number)
        if self._held:
            yield self._cut("the end of the document is missing")

    def _first(self, number: int, line: bytes) -> Iterator[Piece[_T] | Fault]:
        """Take a line that continues nothing."""
        text = line.strip(_BLANK)
        if not text:
            return
        if text[-1] in _CLOSERS and text[0] in _OPENERS and (whole := self._whole(number, text)) is not None:
            yield whole
            return
        if not _PLAUSIBLE.match(text):
            yield Fault(number, f"no JSON document: it begins with {_shown(text)}")
            return
        if len(line) < _LINE_LIMIT and (glued := self._glued(number, text)):
            yield from glued
            return
        self._first_line = number
        self._flush_left = line[0] not in _SPACES
        yield from self._look_into(number, line.lstrip(_BLANK))

    def _further(self, number: int, line: bytes, *, begins: bool) -> Iterator[Piece[_T] | Fault]:
        """Take a line, or a part of one, after a document has begun."""
        if begins and len(self._held) == 1 and self._flush_left:
            self._indented = line[0] in _SPACES
        if begins and (self._is_expected(line) or not (line[0] in _OPENERS or _NEXT_BEGINS.search(line))):
            yield from self._within(number, line)
            return
        yield from self._settle(number)
        if not self._held:
            yield from self._first(number, line)
        elif begins and line[0] in _OPENERS and (whole := self._after_a_cut(number, line)) is not None:
            yield self._cut(_BREAKS_OFF)
            yield from whole or self._first(number, line)
        else:
            yield from self._look_into(number, line)

    def _is_expected(self, line: bytes) -> bool:
        """Return whether the line opens something where the line before it said that something follows."""
        return (
            not self._indented
            and line.strip(_BLANK) in _LONE_OPENERS
            and self._held[-1].rstrip()[-1:] in _ASKS_FOR_MORE
        )

    def _within(self, number: int, line: bytes) -> Iterator[Piece[_T] | Fault]:
        """Take a line in which no document begins."""
        if self._indented and line.strip(_BLANK) in _LONE_CLOSERS:
            closed = self._whole(self._first_line, b"".join((*self._held, line)))
            if closed is not None:
                self._reset()
                yield closed
                return
            self._indented = False  # tried once a document, or many brackets would cost their square
        self._held.append(line)
        if line.rstrip(_BLANK)[-1:] in _LONE_CLOSERS:
            yield from self._settle(number)

    def _settle(self, number: int) -> Iterator[Piece[_T] | Fault]:
        """Scan the held lines; documents that ended among them are taken out."""
        rest = b"".join(self._held[self._scanned :])
        depth, in_string = self._scanner.depth, self._scanner.in_string
        self._scanner.skip(rest)
        if 0 < self._scanner.depth <= _DEEPEST:
            self._scanned = len(self._held)
            return
        self._scanner.depth, self._scanner.in_string = depth, in_string
        del self._held[self._scanned :]
        yield from self._look_into(number, rest)

    def _look_into(self, number: int, text: bytes) -> Iterator[Piece[_T] | Fault]:
        """Take a part in which documents may end and begin."""
        done = 0
        for end in self._scanner.ends(text):
            self._held.append(text[done:end])
            done = end
            yield self._complete()
            self._first_line = number
        rest = text[done:]
        if self._scanner.depth < 0:
            self._reset()
            yield Fault(number, "a bracket that closes nothing")
        elif self._scanner.depth > _DEEPEST:
            self._reset()
            yield Fault(number, f"brackets inside one another, more than {_DEEPEST:,} levels")
        elif self._scanner.depth:
            self._held.append(rest if self._held else rest.lstrip(_BETWEEN))
            self._scanned = len(self._held)
        else:
            self._reset()
            if rest.strip(_BETWEEN):
                yield Fault(number, f"no JSON document: {_shown(rest.strip(_BETWEEN))}")

    def _complete(self) -> Piece[_T] | Fault:
        data = b"".join(self._held).lstrip(_BETWEEN)
        self._held = []
        self._indented = False
        try:
            return Piece(self._first_line, self._parse(data, self._first_line))
        except DecodeError as error:
            return Fault(self._first_line, str(error))

    def _whole(self, number: int, text: bytes) -> Piece[_T] | None:
        try:
            return Piece(number, self._parse(text, number))
        except DecodeError:
            return None

    def _glued(self, number: int, text: bytes) -> tuple[Fault, Piece[_T]] | None:
        """Return the document that was written right behind one that broke off, and the broken one as a fault."""
        at = text.rfind(text[:_OPENING], 1)
        if at < 0 or _is_balanced(text):
            return None
        whole = self._whole(number, text[at:])
        return None if whole is None else (Fault(number, _BREAKS_OFF, cut=text[:at]), whole)

    def _after_a_cut(self, number: int, line: bytes) -> tuple[Piece[_T], ...] | None:
        """Tell whether the held document was cut before this line; return the document that the line is, if it is one.

        It was cut where a string is open, where its lines were indented and this one is not, and where this line is a
        document of its own (a lone bracket opens a list of such lines).
        """
        if self._scanner.in_string or self._indented:
            return ()
        text = line.strip(_BLANK)
        if len(self._held[0].strip(_BLANK)) == 1 or text[-1] not in _CLOSERS:
            return None
        whole = self._whole(number, text)
        return None if whole is None else (whole,)

    def _cut(self, reason: str) -> Fault:
        fault = Fault(self._first_line, reason, cut=b"".join(self._held))
        self._reset()
        return fault

    def _reset(self) -> None:
        self._scanner = Scanner()
        self._held = []
        self._scanned = 0
        self._indented = False


def _is_balanced(text: bytes) -> bool:
    """Return whether a document ends somewhere in the text."""
    scanner = Scanner()
    at = 0
    while at < len(text):
        end = at + _PART
        while text[end - 1 : end] == b"\\":
            end += 1
        if scanner.ends(text[at:end]) or scanner.depth < 0:
            return True
        at = end
    return False


def _shown(text: bytes) -> str:
    return repr(text[:_SHOWN].decode("utf-8", "replace")) + ("…" if len(text) > _SHOWN else "")
