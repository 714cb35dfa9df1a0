"""Objects as Node.js prints them, rewritten as JSON: bare keys, three kinds of quotes, `undefined`, strings in pieces.

Source: https://nodejs.org/api/util.html#utilinspectobject-options. What the printer left out (`[Object]`, `... 3 more
items`) reads as null, or is passed over.
"""

import json
import re

from analyzer.pattern import pattern
from critiqor_otel.errors import DecodeError

__all__ = ["json_of_literal", "looks_like_literal"]

_OPENING = pattern(rb"\{\s*(resource|instrumentationScope|traceId|name)\s*:")
_TOKEN = pattern(
    r"""
    (?P<space>\s+)
  | (?P<text>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`\\]|\\.)*`)
  | (?P<omitted>\[(?:Object|Array|Circular)[^\]]{0,80}\]\s*(?=[,}\]])|\.\.\.\s\d+\smore\s\w+)
  | (?P<proto>\[[A-Z]\w*:\snull\sprototype\]\s*)
  | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)n?
  | (?P<word>[A-Za-z_$][\w$]*)
  | (?P<mark>[{}\[\],:+])
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "undefined": "null",
    "NaN": '"NaN"',
    "Infinity": '"Infinity"',
}
_ESCAPE = pattern(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


def looks_like_literal(data: bytes) -> bool:
    """Return whether the bytes start like a span that Node.js printed."""
    return _OPENING.match(data) is not None


def json_of_literal(text: str) -> bytes:
    """Return the JSON text that means the same.

    Raises:
        DecodeError: it is no such object.
    """
    out: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise DecodeError(f"no object of JavaScript: unexpected {text[at]!r} at character {at}")
        at = match.end()
        _translate(match, text[at : at + 1], out)
    return "".join(out).encode("utf-8", "replace")


def _translate(match: re.Match[str], following: str, out: list[str]) -> None:
    kind, token = match.lastgroup, match[0]
    if kind == "text":
        _add_text(_unescaped(token[1:-1]), out)
    elif kind == "omitted":
        if token.startswith("["):
            out.append("null")
        elif out and out[-1] == ",":
            out.pop()
    elif kind == "number":
        out.append(match["number"])
    elif kind == "word":
        out.append(json.dumps(token) if following == ":" else _WORDS.get(token, json.dumps(token)))
    elif kind == "mark":
        out.append(token)


def _add_text(text: str, out: list[str]) -> None:
    """Append a text; one that follows a `+` goes on with the text before."""
    if len(out) > 1 and out[-1] == "+" and out[-2].startswith('"'):
        text = json.loads(out[-2]) + text
        del out[-2:]
    out.append(json.dumps(text))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPED.get(code, code)
