"""What does a tool do, by the words of its name and its description: does it change something, or look it up?"""

from collections.abc import Sequence

from analyzer.pattern import pattern
from analyzer.remembered import remembered

__all__ = ["is_lookup", "name_words", "telling_words", "writes"]

_WORD = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_FIRST = pattern(r"\W*(\w{1,40})")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is done a second time by a second call. Setting, updating or deleting the same again changes nothing.
_WRITING = _words(
    "send create submit publish insert append purchase buy pay refund deposit withdraw reserve notify invite reply"
)
# These are things as often as deeds: only in front do they say what is done.
_WRITING_FIRST = _words(
    "add book charge comment email message issue order place post schedule transfer upload dispatch forward donate"
)
_LOOKING_UP = _words(
    "search find get list query lookup retrieve fetch read look show select recall browse grep locate describe"
)
_HARMLESS = _LOOKING_UP | _words(
    "check status count history preview draft validate verify estimate calculate simulate dry test template if"
)
_IN_ANY_NAME = (
    _LOOKING_UP
    | _WRITING
    | _words("add set update delete remove modify make do run call execute use by for of the all id ids")
    | _words("tool tools function functions api mcp")
)
_SHORTEST = 3


@remembered(1024)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a tool's name, in lower case: `sendEmail`, `send_email` and `mail.send-email` alike."""
    return tuple(word.lower() for word in _WORD.findall(name[:200]))


@remembered(1024)
def telling_words(name: str) -> frozenset[str]:
    """Return the words that tell what a tool is about: without those for what any tool does."""
    return frozenset(word for word in name_words(name) if word not in _IN_ANY_NAME and len(word) >= _SHORTEST)


def writes(name: str, description: str | None = None) -> bool:
    """Return whether a tool seems to do something that a second call does again: send, create, pay."""
    words = name_words(name)
    if not _HARMLESS.isdisjoint(words):
        return False
    if _does(words):
        return True
    first = _FIRST.match(description or "")
    verb = first[1].lower() if first is not None else ""
    return verb in _WRITING or verb.removesuffix("s") in _WRITING


def _does(words: Sequence[str]) -> bool:
    if not _WRITING.isdisjoint(words):
        return True
    return bool(words) and words[0] in _WRITING_FIRST


def is_lookup(name: str) -> bool:
    """Return whether a tool seems to look something up."""
    return not _LOOKING_UP.isdisjoint(name_words(name))
