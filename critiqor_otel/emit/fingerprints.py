"""Keyed fingerprints: equal values can be recognised, and nobody without the key can try what they were.

Of a whole value, and of up to 64 parts of it (words and numbers), so that a value that turns up again elsewhere is
found. The key is the process's own, or one from outside where several processes are to be compared.
"""

import hashlib
import os
import re
from collections.abc import Iterator

from analyzer.session.jsontext import canonical
from analyzer.session.model import Json
from analyzer.session.shapes import is_list, is_object
from analyzer.timeline.compare import result_key

__all__ = ["KEY_VARIABLE", "MOST_PARTS", "Fingerprints"]

KEY_VARIABLE = "CRITIQOR_FINGERPRINT_KEY"
MOST_PARTS = 64

_SIZE = 16  # bytes of a whole value's fingerprint
_PART_SIZE = 6  # of a part's: 64 parts of two values meet by accident once in a hundred billion
_PARTS = re.compile(r"[^\W_]+(?:[._:@/-][^\W_]+)*")
_SHORT_WORD, _SHORT_NUMBER = 4, 2  # shorter ones are in every text
_READ = 100_000  # characters of a text that are looked at
_LONGEST_KEY = 64  # blake2b
_PROCESS_KEY = os.urandom(_LONGEST_KEY)


class Fingerprints:
    """Makes fingerprints with one key."""

    def __init__(self, key: bytes | None = None) -> None:
        """Take the key given, else that of the environment, else this process's, which dies with it."""
        given = key or os.environ.get(KEY_VARIABLE, "").encode() or _PROCESS_KEY
        self._key = given if len(given) <= _LONGEST_KEY else hashlib.sha512(given).digest()

    def of(self, value: Json) -> str:
        """Return the fingerprint of a JSON value; the order of keys does not count."""
        return self._of(canonical(value), _SIZE)

    def of_result(self, value: Json, call_id: str | None) -> str:
        """Return the fingerprint of a tool's result without what changes by nature, as results are compared."""
        return self._of(result_key(value, call_id) or b"", _SIZE)

    def parts(self, value: Json) -> list[str]:
        """Return the fingerprints of the most telling words and numbers in a value: the longest, sorted."""
        found = {part.casefold() for text in _texts(value) for part in _PARTS.findall(text[:_READ])}
        telling = [part for part in found if len(part) >= (_SHORT_NUMBER if part.isdigit() else _SHORT_WORD)]
        telling.sort(key=lambda part: (-len(part), part))
        return sorted(self._of(part.encode("utf-8", "replace"), _PART_SIZE) for part in telling[:MOST_PARTS])

    def _of(self, data: bytes, size: int) -> str:
        return hashlib.blake2b(data, digest_size=size, key=self._key).hexdigest()


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts and numbers of a value, keys left out."""
    stack: list[Json] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif is_object(item):
            stack += item.values()
        elif is_list(item):
            stack += item
        elif item is not None and not isinstance(item, bool):
            yield str(item)
