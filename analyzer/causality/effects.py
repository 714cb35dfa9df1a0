"""What is a call about: what is it for, which values, does it leave the world changed?"""

from collections.abc import Hashable
from collections.abc import Set as AbstractSet

from analyzer.remembered import remembered
from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.telling import weight
from analyzer.timeline.tool_purpose import changes_something
from analyzer.timeline.tool_words import name_words, telling_words
from analyzer.timeline.vocabulary import Vocabulary

__all__ = ["changes_world", "purposes_of", "values_among", "values_of"]

_TELLING = 2


@remembered(4096)
def purposes_of(tool: str) -> tuple[Hashable, ...]:
    """Return what a tool is for: tools that share one of these are one, or do one thing to one kind of thing."""
    verb = next(iter(name_words(tool)), "")
    return (("tool", tool), *((verb, word) for word in sorted(telling_words(tool)) if word != verb))


def changes_world(call: Call) -> bool:
    """Return whether a call succeeded and, by its tool's name, left the world changed."""
    return call.status != "error" and changes_something(call.tool or "")


def values_of(call: Call, vocabulary: Vocabulary) -> set[str]:
    """Return the ids, numbers and names of a call's arguments; of a path also its last part."""
    if call.arguments is ABSENT:
        return set()
    found = vocabulary.of(vocabulary.text_in(call.arguments))
    return {token for token in found | _names(found) if weight(token) >= _TELLING}


def values_among(wanted: AbstractSet[str], call: Call, vocabulary: Vocabulary) -> AbstractSet[str]:
    """Return what `values_of` would, of values that are looked for."""
    if not wanted or call.arguments is ABSENT:
        return frozenset()
    found = vocabulary.of(vocabulary.text_in(call.arguments))
    return wanted & (found | _names(found))


def _names(found: AbstractSet[str]) -> set[str]:
    return {token.rpartition("/")[2] for token in found if "/" in token}
