"""Who an agent is, where its own span doesn't say it, or never came."""

import json
from collections.abc import Callable

from msgspec import structs

from analyzer.diagnosis import diagnose
from analyzer.session.model import Agent, Session
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.reconstruct.reconstruct import reconstruct
from critiqor_otel.span import Scope, Span
from critiqor_otel.testing import MemorySink, traced

MakeSpan = Callable[..., Span]


def one_session(*spans: Span) -> Session:
    (session,) = reconstruct(spans).sessions
    return session


def test_agents_that_only_their_calls_name_are_told_apart(agent: MakeSpan, chat: MakeSpan, span: MakeSpan) -> None:
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "transfer_to_billing"}
    result = {"gen_ai__tool__call__arguments": "{}", "gen_ai__tool__call__result": json.dumps("Transferred.")}
    session = one_session(
        agent(1, at=(0, 9), gen_ai__agent__name="team"),
        chat(2, 1, at=(1, 2), gen_ai__agent__name="support"),
        span(3, 1, at=(3, 4), gen_ai__agent__name="support", **tool, **result),
        chat(4, 1, at=(5, 6), gen_ai__agent__name="billing"),
        chat(5, 1, at=(7, 8)),
    )

    told = [event.payload["agent"] for event in session.events if event.event_type == "before_provider_request"]
    assert told == ["support", "billing", "team"]
    assert [event.payload["agent"] for event in session.events if event.event == "tool_call"] == ["support"]
    assert session.agent.name == "team"
    assert "missing_delegate" not in [cause.type for cause in diagnose(session).failure_causes]


def test_an_agent_whose_own_span_never_came_has_the_name_that_others_tell(chat: MakeSpan) -> None:
    session = one_session(chat(2, 1, gen_ai__agent__name="helper"))

    assert session.agent.name == "helper"


def test_an_agent_that_nobody_names_has_no_name(span: MakeSpan, chat: MakeSpan) -> None:
    rest = span(2, 1, name="invoke_agent (continued)", critiqor__run_id="r")
    spans = [rest, chat(3, 2, at=(0.2, 0.4))]
    session = one_session(*(structs.replace(one, scope=Scope("critiqor_otel")) for one in spans))

    assert session.agent == Agent()


def test_a_recorder_that_dies_leaves_the_name_of_its_agent() -> None:
    sink = MemorySink()
    options = RecordingOptions(tracer_provider=traced(sink))
    with monitor("Hello", agent="helper", options=options) as recorder:
        recorder.wrap_tool("search", len)("opening hours")
        (session,) = sink.sessions()

    assert session.agent.name == "helper"


def test_a_chain_around_a_run_without_an_agent_is_its_agent(span: MakeSpan, chat: MakeSpan) -> None:
    chain = {"openinference__span__kind": "CHAIN"}
    session = one_session(
        span(1, at=(0, 9), name="helper", metadata=json.dumps({"lc_agent_name": "helper"}), **chain),
        span(2, 1, at=(1, 8), name="model_request", **chain),
        chat(3, 2, at=(2, 7)),
    )

    assert [event.event_type for event in session.events if "agent" in event.event_type] == ["agent_start", "agent_end"]
    assert session.agent.name == "helper"
    assert diagnose(session).status == "completed"
