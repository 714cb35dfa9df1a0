"""What is a call about: which verb, which values, does it leave the world changed?"""

from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.telling import text_in, tokens, weight
from analyzer.timeline.tool_purpose import changes_something
from analyzer.timeline.tool_words import name_words

__all__ = ["changes_world", "values_of", "verb_of"]

_TELLING = 2


def verb_of(tool: str | None) -> str:
    """Return what a tool does: the first word of its name in lower case."""
    return next(iter(name_words(tool or "")), "")


def changes_world(call: Call) -> bool:
    """Return whether a call succeeded and, by its tool's name, left the world changed."""
    return call.status != "error" and changes_something(call.tool or "")


def values_of(call: Call) -> set[str]:
    """Return the ids, numbers and names of a call's arguments."""
    if call.arguments is ABSENT:
        return set()
    return {token for token in tokens(text_in(call.arguments)) if weight(token) >= _TELLING}
