"""Did the agent that a task is handed to answer within the call, as a tool does?"""

from analyzer.pattern import pattern
from analyzer.session.accessors import ABSENT
from analyzer.timeline.call import Call
from analyzer.timeline.outcome import unblocked
from analyzer.timeline.tool_words import name_words

__all__ = ["answered_in_place"]

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
