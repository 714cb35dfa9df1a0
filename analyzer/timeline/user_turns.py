"""How often had the user spoken before? What is asked for again may be called again."""

from typing import Any

from analyzer.session.accessors import payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object

__all__ = ["UserTurns"]

_SPOKE = frozenset(("input", "message_received"))


class UserTurns:
    """Counts what the user says: an input event, or a new question with which an agent is started.

    A framework that starts its agent anew for each step, with the history so far, asks no new question: the last
    message is a tool's or the model's then.
    """

    def __init__(self) -> None:
        self.count = 0
        self._question = b""

    def take(self, event: Event, name: str, *, inside: bool) -> None:
        """Take a state transition by its observed name; `inside`: an agent is at work."""
        if name in _SPOKE:
            self.count += 1
            return
        if name != "agent_start" or inside:
            return
        payload = payload_of(event)
        question = None if payload.get("sub_agent") is True else _question(payload.get("input"))
        if question is not None and (asked := canonical(question)) != self._question:
            self.count += 1
            self._question = asked


def _question(asked: Json) -> Any:
    """Return what the user asks, or None where the last word is not the user's."""
    messages = asked.get("messages") if is_object(asked) else asked
    if not is_list(messages):
        return asked
    last = messages[-1] if messages else None
    if is_object(last) and "role" in last:
        return last if last["role"] == "user" else None
    return last
