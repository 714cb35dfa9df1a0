"""Text from a trace made harmless: no control character or terminal escape of an agent reaches a reader's screen."""

import re
import unicodedata
from collections.abc import Iterator

from analyzer.pattern import pattern

__all__ = ["column_width", "cut", "one_line", "wrapped"]

# C0, DEL, C1 (8-bit terminal escapes), marks that reorder or hide text, line separators, surrogates, tag characters.
# Joiners (U+200C, U+200D) are left: Persian and emoji need them.
_HARMFUL = pattern(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_SPACES = pattern(r"[ \t\r\n]+")
_BEYOND_ASCII = pattern("[^\x00-\x7f]")
_WIDE = frozenset("WF")
_WIDTHLESS = frozenset(("Mn", "Me", "Cf"))


def one_line(text: str) -> str:
    r"""Return the text on one line, white space joined, harmful characters spelled out as `\x1b`."""
    line = _SPACES.sub(" ", text)
    harmless = line.isascii() and line.isprintable()
    return (line if harmless else _HARMFUL.sub(_spelled_out, line)).strip()


def _spelled_out(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code <= 0xFF:  # noqa: PLR2004  # what two hex digits hold
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  # what four hex digits hold


def column_width(text: str) -> int:
    """Return how many terminal columns the text takes; an East Asian character takes two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(_width(character) - 1 for character in _BEYOND_ASCII.findall(text))


def _width(character: str) -> int:
    if unicodedata.category(character) in _WIDTHLESS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def cut(text: str, width: int) -> str:
    """Return the text, or as much of its beginning as fits into `width` columns with an ellipsis."""
    if column_width(text) <= width:
        return text
    room = max(width - 1, 0)
    return _beginning(text, room) + "…"


def _beginning(text: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(text):
        taken += _width(character)
        if taken > width:
            return text[:position]
    return text


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield the text's lines, each at most `width` columns; words longer than that are broken."""
    line = ""
    for word in text.split(" "):
        if line and column_width(line) + 1 + column_width(word) <= width:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = word
        while column_width(line) > width:
            piece = _beginning(line, width) or line[0]
            yield piece
            line = line[len(piece) :]
    if line:
        yield line
