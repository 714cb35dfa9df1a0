"""JSON documents in a stream, one a line, indented or one right after another, with whatever lies between them.

A line that is a whole document is handed on as it is; only other layouts are looked into. Raw line breaks can't stand
in JSON strings, so a string that is open at the end of a line means that its document was cut there.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

from critiqor_otel.errors import DecodeError
from critiqor_otel.formats.json_scanner import Scanner

__all__ = ["Fault", "Piece", "read_pieces"]

_LINE_LIMIT = 1 << 23  # a longer line is taken in parts
_BLANK = b" \t\r\n\0\xef\xbb\xbf"  # the byte order mark and what a rotation leaves behind count as blank
_BETWEEN = _BLANK + b",;"
_OPENERS, _CLOSERS = b"{[", b"}]"
_NEXT_BEGINS = re.compile(rb"[}\]]\s*,?\s*[{\[]")
# The beginning of a JSON document, or of an object as Node.js prints it.
_PLAUSIBLE = re.compile(rb"[{\[]\s*(?:$|[\"'{}\[\]]|-?\d|true|false|null|NaN|-?Infinity|[A-Za-z_$][\w$]*\s*:)")
_BREAKS_OFF = "the document breaks off before the next one"
_SHOWN = 24
_OPENING = 12  # bytes by which a document is known that was written on where another broke off
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Piece(Generic[_T]):
    """What a document became."""

    line: int
    content: _T


@dataclass(frozen=True, slots=True)
class Fault:
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
        self._unscanned: list[bytes] = []
        self._first_line = 0

    def pieces(self, stream: BinaryIO) -> Iterator[Piece[_T] | Fault]:
        number = 0
        begins = True
        while line := stream.readline(_LINE_LIMIT):
            number += begins
            if line.endswith(b"\\"):  # a part must not end inside an escape
                line += stream.read(1)
            if begins and not self._held:
                yield from self._first(number, line)
            else:
                yield from self._further(number, line, begins=begins)
            begins = line.endswith(b"\n")
        if self._held:
            yield self._cut("the end of the document is missing")

    def _first(self, number: int, line: bytes) -> Iterator[Piece[_T] | Fault]:
        text = line.strip(_BLANK)
        if not text:
            return
        if text[0] not in _OPENERS:
            yield Fault(number, f"no JSON document: it begins with {_shown(text)}")
            return
        if text[-1] in _CLOSERS and (whole := self._whole(number, text)) is not None:
            yield whole
            return
        if not _PLAUSIBLE.match(text):
            yield Fault(number, f"no JSON document: it begins with {_shown(text)}")
            return
        if len(line) < _LINE_LIMIT and (glued := self._glued(number, text)):
            yield from glued
            return
        self._first_line = number
        yield from self._look_into(number, line.lstrip(_BLANK))

    def _further(self, number: int, line: bytes, *, begins: bool) -> Iterator[Piece[_T] | Fault]:
        if begins and line[0] in _OPENERS:
            self._scan_rest()
            whole = None if self._is_indented() else self._resumed(number, line)
            if whole is not None or self._scanner.in_string or self._is_indented():
                yield self._cut(_BREAKS_OFF)
                yield from self._first(number, line) if whole is None else [whole]
                return
        if begins and not self._may_end(line):
            self._held.append(line)
            self._unscanned.append(line)
            return
        self._scan_rest()
        yield from self._look_into(number, line)

    def _look_into(self, number: int, text: bytes) -> Iterator[Piece[_T] | Fault]:
        """Take a part in which a document may end or begin."""
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
        elif self._scanner.depth or self._scanner.in_string:
            self._held.append(rest if self._held else rest.lstrip(_BETWEEN))
        elif rest.strip(_BETWEEN):
            yield Fault(number, f"no JSON document: {_shown(rest.strip(_BETWEEN))}")

    def _complete(self) -> Piece[_T] | Fault:
        data = b"".join(self._held).lstrip(_BETWEEN)
        self._held = []
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

    def _resumed(self, number: int, line: bytes) -> Piece[_T] | None:
        """Return the document that a line is, where the one before it was cut; a lone bracket opens a list of lines."""
        text = line.strip(_BLANK)
        is_list_of_lines = len(self._held[0].strip(_BLANK)) == 1
        return None if is_list_of_lines or text[-1] not in _CLOSERS else self._whole(number, text)

    def _is_indented(self) -> bool:
        return len(self._held) > 1 and self._held[1][:1] in (b" ", b"\t")

    def _may_end(self, line: bytes) -> bool:
        return line.rstrip(_BLANK)[-1:] in (b"}", b"]") or _NEXT_BEGINS.search(line) is not None

    def _scan_rest(self) -> None:
        self._scanner.skip(b"".join(self._unscanned))
        self._unscanned = []

    def _cut(self, reason: str) -> Fault:
        fault = Fault(self._first_line, reason, cut=b"".join(self._held))
        self._reset()
        return fault

    def _reset(self) -> None:
        self._scanner = Scanner()
        self._held, self._unscanned = [], []


def _is_balanced(text: bytes) -> bool:
    scanner = Scanner()
    return bool(scanner.ends(text)) or scanner.depth <= 0


def _shown(text: bytes) -> str:
    return repr(text[:_SHOWN].decode("utf-8", "replace")) + ("…" if len(text) > _SHOWN else "")
