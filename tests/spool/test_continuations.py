import itertools

from analyzer.session.model import Agent, Event, Note, Session, SpanRef
from critiqor_otel.spool.continuations import join_continuations


def event(event_id: str, time_ns: int | None = 0, span: str | None = None, **fields: object) -> Event:
    where = None if span is None else SpanRef("t" * 32, span * 16)
    return Event(
        event_id=event_id, event="tool_call", event_type="tool_call", time_ns=time_ns, span=where, payload=fields
    )


def run(*events: Event, run_id: str = "run", continues: str | None = None, **fields: object) -> Session:
    return Session(run_id=run_id, events=events, continues=continues, **fields)  # type: ignore[arg-type]


def ids(session: Session) -> list[str]:
    return [one.event_id for one in session.events]


def test_what_came_later_is_placed_by_its_time() -> None:
    parts = [run(event("a", 1), event("c", 3)), run(event("b", 2), run_id="run~2", continues="run")]

    (whole,) = join_continuations(parts)

    assert ids(whole) == ["a", "b", "c"]


def test_an_event_seen_twice_counts_once() -> None:
    parts = [run(event("a")), run(event("a"), run_id="run~2", continues="run")]

    (whole,) = join_continuations(parts)

    assert ids(whole) == ["a"]


def test_the_later_account_of_a_span_wins() -> None:
    parts = [
        run(event("a", span="1", result=None)),
        run(event("a", span="1", result="done"), run_id="run~2", continues="run"),
    ]

    (whole,) = join_continuations(parts)

    assert [one.payload for one in whole.events] == [{"result": "done"}]


def test_two_events_that_bear_one_id_by_chance_are_both_kept() -> None:
    parts = [run(event("event_0", query="a")), run(event("event_0", query="b"), run_id="run~2", continues="run")]

    (whole,) = join_continuations(parts)

    assert ids(whole) == ["event_0", "event_0~2"]


def test_events_of_one_session_that_share_an_id_are_kept() -> None:
    parts = [run(event("x", query="a"), event("x", query="b")), run(event("y"), run_id="run~2", continues="run")]

    (whole,) = join_continuations(parts)

    assert ids(whole) == ["x", "x", "y"]


def test_continuations_are_taken_in_order_of_their_number() -> None:
    parts = [run(event("a", span="1", n=1))]
    parts += [run(event("a", span="1", n=n), run_id=f"run~{n}", continues="run") for n in (10, 2, 9)]

    (whole,) = join_continuations(parts)

    assert [one.payload for one in whole.events] == [{"n": 10}]


def test_the_order_of_files_changes_nothing() -> None:
    parts = [
        run(event("a", 1)),
        run(event("b", 2), run_id="run~2", continues="run"),
        run(event("c", 3), run_id="run~3", continues="run~2"),
        run(event("z"), run_id="other"),
    ]

    results = [join_continuations(order) for order in itertools.permutations(parts)]

    assert all(result == results[0] for result in results)
    assert [ids(session) for session in results[0]] == [["z"], ["a", "b", "c"]]


def test_a_continuation_without_its_run_says_so() -> None:
    (session,) = join_continuations([run(event("b"), run_id="run~2", continues="run")])

    assert session.run_id == "run"
    assert [note.code for note in session.notes] == ["missing-run"]


def test_continuations_that_name_each_other_end() -> None:
    parts = [run(event("a"), run_id="x", continues="y"), run(event("b"), run_id="y", continues="x")]

    joined = join_continuations(parts)

    assert sorted(one for session in joined for one in ids(session)) == ["a", "b"]


def test_equal_copies_of_a_session_are_one() -> None:
    assert len(join_continuations([run(event("a")), run(event("a"))])) == 1


def test_different_sessions_of_one_id_stay_apart_and_say_so() -> None:
    joined = join_continuations([run(event("a")), run(event("b"))])

    assert [ids(session) for session in joined] == [["a"], ["b"]]
    assert all(session.notes[-1].code == "shared-run-id" for session in joined)


def test_what_is_known_of_the_run_is_put_together() -> None:
    note = Note(code="orphan-span", message="m")
    parts = [
        run(event("a"), trace_ids=("2" * 32,), notes=(note,)),
        run(event("b"), run_id="run~2", continues="run", trace_ids=("1" * 32,), notes=(note,), agent=Agent(name="bot")),
    ]

    (whole,) = join_continuations(parts)

    assert whole.trace_ids == ("1" * 32, "2" * 32)
    assert whole.notes == (note,)
    assert whole.agent == Agent(name="bot")


def test_an_event_without_a_time_stays_behind_the_one_it_followed() -> None:
    parts = [run(event("a", 1), event("b", None), event("c", 5)), run(event("d", 3), run_id="run~2", continues="run")]

    (whole,) = join_continuations(parts)

    assert ids(whole) == ["a", "b", "d", "c"]
