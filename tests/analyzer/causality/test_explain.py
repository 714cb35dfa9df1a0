from flat_sessions import answered, call, output, session_of
from planted import plant

from analyzer.causality.explain import explain_steps
from analyzer.diagnosis import Profile, diagnose
from analyzer.session.model import Session
from analyzer.timeline.index import build_timeline


def steps(session: Session, *path: str) -> list[str]:
    return explain_steps(build_timeline(session, Profile.STANDARD), path)


def test_a_call_is_told_with_tool_arguments_error_and_time() -> None:
    session = session_of(*answered(ValueError("no such city"), tool="weather", args={"city": "Lyon"}))

    told = 'At 12:00:00 weather is called with {"city":"Lyon"} and fails: no such city (event_0).'
    assert steps(session, "event_0", "event_1") == [told]
    assert steps(session, "event_1") == ["At 12:00:01 weather fails: no such city (event_1)."]


def test_long_arguments_are_shortened() -> None:
    (step,) = steps(session_of(call("write", {"text": "word " * 400})), "event_0")

    assert "…" in step
    assert len(step) < 160


def test_what_the_model_said_or_asked_for_is_quoted() -> None:
    session = plant("misread", 0).session
    said = next(event for event in session.events if "delivered" in str(event.payload.get("messages")))

    (step,) = steps(session, said.event_id)

    assert "says “Order ORD-" in step


def test_of_a_long_path_the_middle_is_left_out() -> None:
    events = [event for number in range(9) for event in answered("a", args={"q": number})]

    told = steps(session_of(*events), *(f"event_{place}" for place in range(0, 18, 2)))

    assert len(told) == 6
    assert told[4] == "4 more steps follow."


def test_what_is_no_event_is_passed_over() -> None:
    assert steps(session_of(call(), output()), "failure_x", "gone") == []


def test_braces_in_names_do_no_harm() -> None:
    session = session_of({"event": "memory_event", "tool": "{odd}"}, {"event": "wonder", "name": "{odd}"})

    assert [step.partition(" (")[0] for step in steps(session, "event_0", "event_1")] == [
        "At 12:00:00 the memory is used",
        "At 12:00:01 {odd} happens",
    ]


def test_the_explanation_leads_from_the_root_to_the_failure() -> None:
    verdict = diagnose(plant("changed_too_early", 2).session)
    text = verdict.primary_diagnosis.causal_chain_explanation

    first, second = text.index("modify_order_items"), text.index("modify_order_address")
    assert first < second
    assert "a locked order cannot be modified" in text
    assert "That is unhandled_tool_error" in text
