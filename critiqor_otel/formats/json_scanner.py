"""Where does a JSON document end? Counts brackets outside strings, over any number of pieces of text."""

import re

from analyzer.pattern import pattern

__all__ = ["Scanner"]

# A string that does not end is one token too: looking for its end from each of its quotes would cost their square.
_TOKEN = pattern(rb'"(?:[^"\\]++|\\.)*+("|\\?\Z)|[{}\[\]]', re.DOTALL)
_REST_OF_STRING = pattern(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_ESCAPE = pattern(rb"\\.", re.DOTALL)
_STRING = pattern(rb'"[^"]*"')
_OPENERS, _CLOSERS, _QUOTE = b"{[", b"}]", b'"'
_NOT_STRUCTURE = bytes(sorted(set(range(256)) - set(_OPENERS + _CLOSERS + _QUOTE)))


class Scanner:
    """Follows one document after another; a piece must not end between a backslash and what it escapes."""

    __slots__ = ("depth", "in_string")

    def __init__(self) -> None:
        """Start outside of any document."""
        self.depth = 0
        """Brackets that are open; below zero where more were closed than opened."""
        self.in_string = False

    def skip(self, data: bytes) -> None:
        """Go over a piece without looking where documents end: five times as fast as `ends`."""
        if self.in_string:
            self._follow(data)
            return
        structure = (_ESCAPE.sub(b"", data) if b"\\" in data else data).translate(None, _NOT_STRUCTURE)
        if structure.count(_QUOTE) % 2:
            self._follow(data)
            return
        bare = _STRING.sub(b"", structure)
        opened = bare.count(b"{") + bare.count(b"[")
        self.depth += 2 * opened - len(bare)

    def ends(self, data: bytes) -> list[int]:
        """Go over a piece and return the places right after the closing bracket of each document that ends in it.

        It stops at a bracket that closes nothing; `depth` is negative then.
        """
        return self._follow(data)

    def _follow(self, data: bytes) -> list[int]:
        found: list[int] = []
        at = self._leave_string(data)
        for token in _TOKEN.finditer(data, at):
            sign = data[token.start()]
            if sign in _OPENERS:
                self.depth += 1
            elif sign in _CLOSERS:
                self.depth -= 1
                if self.depth == 0:
                    found.append(token.end())
                elif self.depth < 0:
                    break
            elif token[1] != b'"':
                self.in_string = True
        return found

    def _leave_string(self, data: bytes) -> int:
        if not self.in_string:
            return 0
        rest = _REST_OF_STRING.match(data)
        if rest is None:
            return len(data)
        self.in_string = False
        return rest.end()
