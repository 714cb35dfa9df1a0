"""Hand-overs: to whom, to and fro between two, and whether the other agent answered within the call, as a tool does."""

from collections.abc import Iterator, Sequence

from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.outcome import unblocked
from analyzer.timeline.tool_purpose import hands_over_to
from analyzer.timeline.tool_words import name_words

__all__ = ["answered_in_place", "handed_over_to", "handed_to_and_fro"]

_OFTEN = 4

_WORD = pattern(r"[^\W\d_]{2,}")
_MOST_TEXT = 4_000
_MOST_VALUES = 500
_RECEIPT = frozenset(
    [
        *("accepted", "ack", "acknowledged", "active", "adopt", "agent", "all", "an", "and", "are", "as", "assigned"),
        *("assistant", "at", "await", "be", "been", "being", "by", "chat", "complete", "completed", "conversation"),
        *("control", "delegated", "done", "escalated", "false", "for", "forwarded", "from", "hand", "handed"),
        *("handing", "handoff", "handover", "has", "have", "immediately", "in", "initiated", "is", "it", "message"),
        *("new", "none", "now", "null", "of", "ok", "okay", "on", "our", "over", "pending", "persona", "please"),
        *("process", "processing", "queued", "received", "request", "routed", "scheduled", "sent", "soon", "started"),
        *("status", "submitted", "success", "successful", "successfully", "system", "task", "taking", "taken", "team"),
        *("that", "the", "their", "this", "to", "transfer", "transferred", "transferring", "true", "under", "wait"),
        *("waiting", "was", "we", "will", "with", "you", "your"),
    ]
)


def handed_over_to(call: Call) -> str | None:
    """Return the agent that a call hands the task to, None for any other call."""
    return None if call.tool is None else hands_over_to(call.tool)


def handed_to_and_fro(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield the longest rows of four or more hand-overs in which two agents take turns."""
    return (row for row in _rows(calls) if len(row) >= _OFTEN)


def _rows(calls: Sequence[Call]) -> Iterator[list[Call]]:
    """Yield the longest rows of hand-overs in which every second goes to the same agent, and no two in a row do."""
    row: list[Call] = []
    for call in calls:
        to = handed_over_to(call)
        if to and _is_a_tool(call, row):
            to = None
        if to and row and call.user_turn == row[-1].user_turn and _goes_on(row, to):
            row.append(call)
            continue
        yield row
        row = [call] if to else []
    yield row


def _is_a_tool(call: Call, row: Sequence[Call]) -> bool:
    """Return whether the other agent answered within the call, and who asked had not been handed the task."""
    return answered_in_place(call) and (not row or call.agent == row[-1].agent)


def _goes_on(row: Sequence[Call], to: str) -> bool:
    *earlier, last = map(handed_over_to, row[-2:])
    return last != to and all(agent == to for agent in earlier)


def answered_in_place(call: Call) -> bool:
    """Return whether a result holds a word that neither a receipt nor the request holds."""
    if call.result is ABSENT or call.status == "error":
        return False
    known = {*name_words(call.tool or ""), *_words(None if call.arguments is ABSENT else call.arguments)}
    return any(word not in known and word not in _RECEIPT for word in _words(unblocked(call.result)))


def _words(value: object) -> set[str]:
    """Return the words of the texts in a value, keys left out."""
    waiting: list[object] = [value]
    found: set[str] = set()
    for one in waiting:
        if isinstance(one, str):
            found.update(word.lower() for word in _WORD.findall(one[:_MOST_TEXT]))
        elif len(waiting) < _MOST_VALUES and isinstance(one, dict | list):
            waiting += one.values() if isinstance(one, dict) else one
    return found
