"""Who used which output is found without content too, by the fingerprints that stand in its place."""

import msgspec
from flat_sessions import session_of

from analyzer.profile import Profile
from analyzer.session.model import Session
from analyzer.timeline.index import build_timeline
from critiqor_otel.emit.content import Content
from critiqor_otel.emit.fingerprints import Fingerprints

SESSION = session_of(
    {"event_type": "agent_start", "payload": {"agent": "helper", "input": "Close the account of Anna Berg"}},
    {"event": "tool_call", "tool_name": "find", "tool_call_id": "c1", "payload": {"input": {"name": "Anna Berg"}}},
    {
        "event": "tool_output",
        "tool_name": "find",
        "tool_call_id": "c1",
        "payload": {"result": {"id": "usr-48213", "city": "Ulm", "note": "prefers calls before lunch on Mondays"}},
    },
    {"event": "tool_call", "tool_name": "close", "tool_call_id": "c2", "payload": {"input": {"user": "usr-48213"}}},
    {"event": "tool_output", "tool_name": "close", "tool_call_id": "c2", "payload": {"result": {"ticket": "T-7751"}}},
    {
        "event": "token_usage",
        "event_type": "after_provider_response",
        "payload": {"messages": [{"role": "assistant", "text": "Done, the ticket is T-7751."}]},
    },
)


def withheld(session: Session) -> Session:
    content = Content(capture=False, redaction=None, fingerprints=Fingerprints(b"key"))
    return msgspec.structs.replace(session, events=tuple(map(content.event, session.events)))


def test_the_same_uses_are_found() -> None:
    with_content, without = (
        {(use.source, use.target, use.rule) for use in build_timeline(session, Profile.STANDARD).uses}
        for session in (SESSION, withheld(SESSION))
    )

    assert with_content == {(2, 3, "value-in-arguments"), (4, 5, "value-in-answer")}
    assert without == with_content


def test_nothing_that_was_said_stands_among_the_values() -> None:
    values = " ".join(value for use in build_timeline(withheld(SESSION), Profile.STANDARD).uses for value in use.values)

    assert "48213" not in values
    assert "7751" not in values
