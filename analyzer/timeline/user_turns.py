"""How often had the user spoken before? What is asked for again may be called again."""

from typing import Any

from analyzer.session.accessors import payload_of
from analyzer.session.jsontext import canonical
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object

__all__ = ["UserTurns"]

_ENDS = frozenset(("agent_end", "agent_finish"))
_SPOKE = frozenset(("input", "message_received"))


class UserTurns:
    """Counts what the user says: an input event, a question with which an agent is started, or that it is sent.

    Of requests only those of the agent that makes the first one count, after an answer that no call followed, which end
    with words that neither it nor the user had said before, or that stand behind that answer. An agent that is started
    with the question of the last time is asked again if it had given an answer then. A framework that starts its agent
    anew for each step, with the history so far, asks no new question: the last message is a tool's or the model's then.
    """

    def __init__(self) -> None:
        self.count = 0
        self._question = b""
        self._speaker: Json = None
        self._answered = False
        self._ended = False
        """The agent that ended last, the outermost where none is at work, gave an answer."""
        self._said: set[str] = set()

    def take(self, event: Event, name: str, *, inside: bool) -> None:
        """Take a state transition by its observed name; `inside`: an agent is at work."""
        if name in _SPOKE:
            self.count += 1
            return
        payload = payload_of(event)
        if name in _ENDS:
            self._ended = event.status != "error" and bool(payload.get("output"))
        if name != "agent_start" or inside:
            return
        question = None if payload.get("sub_agent") is True else _question(payload.get("input"))
        if question is not None and ((asked := canonical(question)) != self._question or self._ended):
            self.count += 1
            self._ended = False
            self._question = asked

    def request(self, event: Event) -> None:
        """Take what a model is sent."""
        payload = payload_of(event)
        messages = payload.get("messages")
        if not messages or not is_list(messages):
            return
        last = messages[-1]
        if not is_object(last) or last.get("role") != "user" or "tool_responses" in last:
            return
        text = last.get("text")
        if not isinstance(text, str) or not self._is_speaker(payload.get("agent")):
            return
        self.count += self._answered and (text not in self._said or _follows_an_answer(messages))
        self._answered = False
        self._said.add(text)

    def call(self) -> None:
        """Take a call: what a model is sent next is its result, as a rule."""
        self._answered = False

    def response(self, event: Event) -> None:
        """Take what a model answers."""
        payload = payload_of(event)
        messages = payload.get("messages")
        if not messages or not is_list(messages):
            return
        last = messages[-1]
        if not is_object(last):
            return
        text = last.get("text")
        if isinstance(text, str):
            self._said.add(text)
        if payload.get("agent") == self._speaker:
            self._answered = isinstance(text, str) and not last.get("tool_requests")

    def _is_speaker(self, agent: Json) -> bool:
        if not self._said:
            self._speaker = agent
        return bool(agent == self._speaker)


def _follows_an_answer(messages: list[Json]) -> bool:
    """Return whether the last message stands behind one in which the model answers."""
    before = messages[-2] if len(messages) > 1 else None
    return is_object(before) and before.get("role") == "assistant" and not before.get("tool_requests")


def _question(asked: Json) -> Any:
    """Return what the user asks, or None where the last word is not the user's."""
    messages = asked.get("messages") if is_object(asked) else asked
    if not is_list(messages):
        return asked
    last = messages[-1] if messages else None
    if is_object(last) and "role" in last:
        return last if last["role"] == "user" else None
    return last
