"""Conversations of several agents, read into sessions.

The format: an object with `history` [{content, role, name?}], `mistake_agent` and `mistake_step` (from 0). Who speaks
is `name`, else `role`; `X (thought)` is what X thinks, `X (-> Y)` what X asks of Y. A message that says how code ended
(an exit code and its output) is the result of the code that was said last: a call and its output. Labels, the right
answer and the reasons of the labels do not become part of the session.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labelled import Labelled, Step, event_of, session_of

from analyzer.session.model import Event

__all__ = ["is_conversation", "read_conversation"]

_CODE = re.compile(r"```(\w*)[ \t]*\n(.*?)```", re.DOTALL)
_RAN = (
    re.compile(r"exitcode: (?P<code>-?\d+)[^\n]*\n(?:Code output:\s?)?(?P<output>.*)", re.DOTALL),
    re.compile(
        r"The script ran, then exited with Unix exit code: (?P<code>-?\d+)\s+Its output was:\s?(?P<output>.*)",
        re.DOTALL,
    ),
)
_ASIDE = re.compile(r"(?P<who>.+?) \((?:-> (?P<to>.+)|(?P<how>.+))\)")
_PEOPLE = frozenset(("human", "user"))


def is_conversation(document: Any) -> bool:
    """Return whether a JSON document has this form."""
    return isinstance(document, Mapping) and "history" in document and "mistake_step" in document


def read_conversation(document: Any, name: str, group: str) -> Labelled | None:
    """Return the run, or None when its label is no step of it."""
    history: Sequence[Mapping[str, Any]] = document["history"]
    try:
        step = int(document["mistake_step"])
    except ValueError:
        return None
    if not 0 <= step < len(history):
        return None
    steps = [Step(_speaker(message), bool(_CODE.search(_text(message)))) for message in history]
    session = session_of(name, list(_events(history)))
    return Labelled(name, group, session, steps, 0, step, str(document["mistake_agent"]))


def _events(history: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    for number, message in enumerate(history):
        ran = _ran(_text(message))
        if ran is not None and number:
            yield _output(number, message, ran)
            continue
        yield _said(number, message)
        if number + 1 < len(history) and _ran(_text(history[number + 1])) is not None:
            yield _call(number, message, history[number + 1])


def _said(number: int, message: Mapping[str, Any]) -> Event:
    who, to, how = _parts(message)
    if who.lower() in _PEOPLE:
        payload = {"role": "user", "text": _text(message)}
        return event_of(number, 0, event="state_transition", event_type="message_received", payload=payload)
    said = {"role": "assistant", "text": _text(message), "agent": who}
    extra = {key: value for key, value in (("to", to), ("channel", how)) if value is not None}
    return event_of(number, 0, event="state_transition", event_type="message_sent", payload={**said, **extra})


def _call(number: int, message: Mapping[str, Any], answer: Mapping[str, Any]) -> Event:
    code = [{"language": language, "code": code} for language, code in _CODE.findall(_text(message))]
    return event_of(
        number,
        1,
        event="tool_call",
        event_type="tool_call",
        tool_name=_speaker(answer),
        tool_call_id=f"call_{number}",
        payload={"input": {"code": code}, "agent": _speaker(message)},
    )


def _output(number: int, message: Mapping[str, Any], ran: re.Match[str]) -> Event:
    code = int(ran["code"])
    return event_of(
        number,
        0,
        event="tool_output",
        event_type="tool_result",
        tool_name=_speaker(message),
        tool_call_id=f"call_{number - 1}",
        status="error" if code else "ok",
        payload={"result": ran["output"], "exit_code": code},
    )


def _ran(text: str) -> re.Match[str] | None:
    return next((found for pattern in _RAN if (found := pattern.match(text))), None)


def _parts(message: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    who = str(message.get("name") or message.get("role") or "")
    aside = _ASIDE.fullmatch(who)
    return (who, None, None) if aside is None else (aside["who"], aside["to"], aside["how"])


def _speaker(message: Mapping[str, Any]) -> str:
    return _parts(message)[0]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""
