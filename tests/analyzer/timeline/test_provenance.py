"""Which later event used a value of which earlier output."""

import gc
import time
from typing import Any

import pytest
from flat_sessions import Raw, call, output, session_of

from analyzer.cause import Confidence
from analyzer.profile import Profile
from analyzer.timeline.index import Timeline, build_timeline
from analyzer.timeline.provenance import MOST_TEXT
from critiqor_otel.emit.fingerprints import Fingerprints


def said(text: str) -> Raw:
    return {
        "event": "token_usage",
        "event_type": "after_provider_response",
        "payload": {"messages": [{"role": "assistant", "text": text}]},
    }


def asked(*texts: str, role: str = "user") -> Raw:
    messages = [{"role": role, "text": text} for text in texts]
    return {"event": "state_transition", "event_type": "before_provider_request", "payload": {"messages": messages}}


def ended(text: str) -> Raw:
    return {"event": "state_transition", "event_type": "agent_end", "payload": {"output": text}}


def timeline_of(*events: Raw) -> Timeline:
    return build_timeline(session_of(*events), Profile.STANDARD)


def uses_of(*events: Raw) -> list[tuple[int, int, tuple[str, ...]]]:
    return [(use.source, use.target, use.values) for use in timeline_of(*events).uses]


def answer_to(result: Any, text: str) -> list[str]:
    """Return the values of a result that an answer holds, by what the analyzer finds."""
    return [value for use in timeline_of(call(), output(result), ended(text)).uses for value in use.values]


@pytest.mark.parametrize(
    ("result", "text", "values"),
    [
        ({"id": "ord-7731", "state": "open"}, "Your order ORD-7731 is open.", ["ord-7731", "7731"]),
        ({"price": 19.5}, "It costs $19.50.", ["19.5"]),
        ({"total": 12500}, "12,500 people live there.", ["12500"]),
        ("mail anna@example.org please", "I wrote to anna@example.org.", ["anna@example.org"]),
        ("42", "The answer is 42.", ["42"]),
        ("Paris", "The capital is Paris.", ["paris"]),
        ("see src/loader/tables.py", "The bug is in src/loader/tables.py", ["src/loader/tables.py"]),
        (
            "営業時間は午前九時から午後五時までです",
            "お店は午前九時から開いています",
            ["は午前九"],
        ),
        ("ร้านเปิดเวลาเก้าโมงเช้าทุกวัน", "เปิดเวลาเก้าโมงเช้า", ["ก้าโ"]),
        ("магазин открыт ежедневно кроме воскресенья", "Магазин открыт ежедневно.", ["магазин открыт ежедневно"]),
        (
            "The parcel left Rotterdam harbour at noon",
            "It left Rotterdam harbour today",
            ["left rotterdam harbour"],
        ),
        ('{"customer": {"phone": "555-0199"}}', "Call 555-0199.", ["555-0199"]),
    ],
)
def test_a_value_of_an_output_is_known_again_in_the_answer(result: Any, text: str, values: list[str]) -> None:
    assert answer_to(result, text)[: len(values)] == values


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("ok", "Everything is ok."),
        ({"status": "success", "error": None}, "That was a success."),
        ("It rained in the north", "The train is on time"),
        ({"count": 3, "page": 1, "of": 9}, "I found 3 of them."),
        ({"price": 19.5}, "It costs 24 dollars."),
        ("営業時間は午前九時までです", "わかりません"),
        ([], "There is nothing."),
    ],
)
def test_what_stands_in_any_text_proves_nothing(result: Any, text: str) -> None:
    assert answer_to(result, text) == []


def test_a_value_handed_on_as_an_argument_is_a_use() -> None:
    events = (call("find", {"name": "Anna"}), output({"id": "u_4821"}, "find"), call("close", {"user": "u_4821"}))

    (use,) = timeline_of(*events).uses
    assert (use.source, use.target, use.rule, use.confidence) == (1, 2, "value-in-arguments", Confidence.HIGH)


def test_a_value_in_a_prompt_is_a_use() -> None:
    (use,) = timeline_of(call(), output("room Q-17 is free"), asked("Context: room Q-17 is free", role="system")).uses

    assert (use.target, use.rule) == (2, "value-in-prompt")


def test_what_was_said_before_the_output_is_an_echo() -> None:
    assert uses_of(asked("Where is ord-7731?"), call(), output("ord-7731: lost"), said("I can't find ord-7731")) == []


def test_an_argument_of_the_call_is_an_echo_in_its_own_output() -> None:
    assert uses_of(call(args={"sku": "A-1790"}), output({"sku": "A-1790", "price": 3}), said("A-1790 it is")) == []


def test_of_several_sources_the_latest_counts() -> None:
    events = (call(), output("gate B-22"), call(args={"q": "now"}), output("gate B-22"), said("Go to gate B-22."))

    assert [use[:2] for use in uses_of(*events)] == [(3, 4)]


def test_what_an_agent_repeats_stays_with_the_output_that_told_it() -> None:
    events = (call(), output("gate B-22"), call("map", {"gate": "B-22"}), output("B-22: 4 km", "map"), said("At B-22."))

    assert [use[:2] for use in uses_of(*events)] == [(1, 2), (1, 4)]


def test_withheld_content_is_followed_by_its_fingerprints() -> None:
    prints = Fingerprints(b"key")
    events = (
        {"event": "tool_call", "tool": "find", "payload": {"input_parts": prints.parts({"name": "Anna"})}},
        {"event": "tool_output", "tool": "find", "payload": {"result_parts": prints.parts({"id": "usr-4821"})}},
        {"event": "tool_call", "tool": "close", "payload": {"input_parts": prints.parts({"user": "usr-4821"})}},
    )

    (use,) = timeline_of(*events).uses
    assert (use.source, use.target, use.values) == (1, 2, tuple(prints.parts("usr-4821")))


def test_what_the_memory_gave_is_an_output() -> None:
    memory = {
        "event": "memory_event",
        "event_type": "memory_search",
        "status": "ok",
        "payload": {"records": ["likes pears and quinces"], "query": "fruit"},
    }

    assert uses_of(memory, said("You like pears and quinces."))[0][:2] == (0, 1)


def test_the_error_of_a_failed_call_is_an_output_too() -> None:
    failed = {"event": "tool_output", "tool": "search", "status": "error", "error": "no index named catalogue_v2"}

    assert uses_of(call(), failed, said("There is no index catalogue_v2."))[0][:2] == (1, 2)


def test_an_output_nobody_speaks_for_is_unused() -> None:
    used, unused = output({"id": "ord-7731"}), output({"id": "ord-9902"})
    provenance = timeline_of(call(), used, call(args={"q": "b"}), unused, ended("It is ord-7731.")).provenance

    assert provenance.unused == (3,)


@pytest.mark.parametrize(
    "events",
    [
        (call(), output({"id": "ord-7731"})),
        (ended("Done."), call(), output({"id": "ord-7731"})),
        (call(), output({"id": "ord-7731"}), {"event": "tool_call", "tool": "x"}, ended("Done.")),
        (call(), output("ok"), ended("Done.")),
        (call(), output({"id": "ord-7731"}), call(args=1), output("ord-7731 left"), ended("ord-7731 left")),
        (call(), output({"id": "ord-7731"}), ended("a " * MOST_TEXT)),
    ],
    ids=["nobody spoke", "spoke before", "unknown arguments", "says nothing", "an heir is used", "too long to read"],
)
def test_an_output_is_not_called_unused_without_a_reason(events: tuple[Raw, ...]) -> None:
    assert timeline_of(*events).provenance.unused == ()


def test_numbers_of_the_last_answer_that_stand_nowhere_are_told() -> None:
    provenance = timeline_of(asked("For 2 people?"), call(), output("19.5"), ended("2 for 24.90, or 19.50")).provenance

    assert provenance.invented == ("24.9",)


def test_a_cut_text_is_said() -> None:
    (note,) = timeline_of(call(), output("x " * MOST_TEXT), ended("y")).provenance.notes

    assert note.code == "long-text"


def test_deep_results_are_read() -> None:
    deep: Any = "ord-7731"
    for _ in range(150):
        deep = [deep]

    assert answer_to(deep, "It is ord-7731.")[0] == "ord-7731"


def _cpu(count: int) -> float:
    """Return the seconds that provenance takes over outputs that all share their words with all answers."""
    events: list[Raw] = []
    for number in range(count):
        text = f"the parcel ord-{number} left Rotterdam harbour this morning on barge number {number % 50}"
        events += (call(args={"q": number}), output(text), said(text))
    timeline = timeline_of(*events)
    assert timeline.conversation is not None
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        assert timeline.provenance.uses
        return time.process_time() - start
    finally:
        gc.enable()


def test_the_cost_grows_with_the_text_not_with_its_square() -> None:
    small, large = min(_cpu(500) for _ in range(3)), min(_cpu(4_000) for _ in range(2))

    assert large < small * 8 * 3
