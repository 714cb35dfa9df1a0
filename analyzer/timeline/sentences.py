"""What are the sentences of a text? Cut at stops and line ends, the first 200 of at most 20,000 characters."""

from collections.abc import Iterator
from itertools import islice

from analyzer.pattern import pattern

__all__ = ["plain", "quoted", "sentences"]

_MOST_TEXT = 20_000
_MOST = 200
_LONGEST = 600
_SHORT = 120
# A stop and a space, a full-width stop, or the end of a line.
_END = pattern("(?<=[.!?\u2026])[\"'\u201d\u2019)*_]{0,3}\\s+|(?<=[\u3002\uff01\uff1f])|\n")
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " ", "\u202f": " "})


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, stripped and shortened; abbreviations are taken for ends."""
    found = (part.strip()[:_LONGEST] for part in _END.split(text[:_MOST_TEXT]))
    return islice((part for part in found if part), _MOST)


def plain(text: str) -> str:
    """Return a text with straight quotation marks and plain spaces, for patterns."""
    return text if text.isascii() else text.translate(_PLAIN)


def quoted(text: str) -> str:
    """Return a text on one line in quotation marks, shortened."""
    line = " ".join(text[: 2 * _SHORT].split())
    return f"“{line if len(line) <= _SHORT else line[: _SHORT - 1] + '…'}”"
