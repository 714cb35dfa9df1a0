"""Recorded sessions on their way to an OTLP endpoint."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from command import run_command
from drawn_sessions import many
from otlp_sink import Answer, Sink
from trips import came_back, without_spans

from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Event, Session
from critiqor_otel.emit.replay import follow, replay
from critiqor_otel.span import Span

RECORDED = Path(__file__).parents[1] / "cases" / "critiqor-v1" / "combo_six.session.json"
TIME = 1_780_000_000_000_000_000


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().running() as running:
        yield running


def event(number: int, name: str, **fields: object) -> Event:
    return Event(event_id=f"e{number}", event=name, event_type=name, time_ns=TIME + number, **fields)  # type: ignore[arg-type]


def test_a_session_arrives_with_its_own_times_and_ids(sink: Sink, tmp_path: Path) -> None:
    once = run_command(tmp_path, "replay", RECORDED, "--endpoint", sink.url)
    first, sink.taken = sink.spans, []
    again = run_command(tmp_path, "replay", RECORDED, "--endpoint", sink.url)

    assert (once.code, again.code) == (0, 0)
    assert f"{len(first)} spans of 1 run were sent to" in once.err
    assert sink.spans == first
    session = read_session(RECORDED.read_bytes())
    assert without_spans(came_back(first)) == without_spans(session)
    assert min(span.start_ns for span in first) == session.events[0].time_ns


def test_what_is_not_taken_is_told(tmp_path: Path) -> None:
    with Sink(rule=lambda _: Answer(400, b"no such tenant")).running() as sink:
        done = run_command(tmp_path, "replay", RECORDED, "--endpoint", sink.url)

    assert done.code == 2
    assert "no such tenant" in done.err
    assert "spans were not taken" in done.err


def test_no_session_is_told(sink: Sink, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("nothing")

    assert run_command(tmp_path, "replay", "empty.txt", "--endpoint", sink.url).code == 3
    assert run_command(tmp_path, "replay", RECORDED, "--endpoint", "localhost:4317").code == 2


def test_secrets_can_be_left_out(sink: Sink, tmp_path: Path) -> None:
    call = event(0, "tool_call", tool_name="login", payload={"input": {"password": "hunter2"}})
    (tmp_path / "session.json").write_bytes(write_session(Session(run_id="r", events=(call,))))

    run_command(tmp_path, "replay", "session.json", "--endpoint", sink.url, "--redact")

    assert b"hunter2" not in b"".join(sink.bodies)
    assert came_back(sink.spans).events[0].tool_name == "login"


def test_many_spans_go_in_several_requests() -> None:
    sent: list[int] = []
    calls = tuple(event(number, "tool_call", tool_name="t", tool_call_id=f"c{number}") for number in range(1200))

    replayed = replay([Session(run_id="r", events=calls)], lambda spans: bool(sent.append(len(spans)) or True))

    assert replayed.spans == sum(sent) == 1201
    assert len(sent) == 3


class Growing:
    """A session file that an agent writes: each look finds more of it."""

    def __init__(self, path: Path, stages: Sequence[bytes]) -> None:
        self._path = path
        self._stages = list(stages)
        self.sent: list[list[str]] = []
        self.spans: list[Span] = []

    def wait(self) -> bool:
        if self._stages:
            self._path.write_bytes(self._stages.pop(0))
        self.sent.append([])
        return bool(self._stages)

    def send(self, spans: Sequence[Span]) -> bool:
        self.sent[-1] += [span.name for span in spans]
        self.spans += spans
        return True


def test_a_file_is_followed_while_it_is_written(tmp_path: Path) -> None:
    events = (
        event(0, "agent_start"),
        event(1, "tool_call", tool_name="a", tool_call_id="1"),
        event(2, "tool_output", tool_name="a", tool_call_id="1"),
        event(3, "tool_call", tool_name="b", tool_call_id="2"),
        event(4, "agent_end"),
    )
    whole = [write_session(Session(run_id="r", events=events[:count])) for count in (1, 2, 3, 4, 5)]
    session = read_session(whole[-1])
    growing = Growing(tmp_path / "session.json", [*whole[:2], whole[2][:50], whole[2], *whole[3:]])

    replayed = follow(tmp_path / "session.json", growing.send, growing.wait)

    assert growing.sent == [[], [], [], ["execute_tool a"], [], ["execute_tool b", "invoke_agent"]]
    assert replayed.spans == 3
    assert without_spans(came_back(growing.spans)) == without_spans(session)


def test_following_ends_with_the_seal(sink: Sink, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(write_session(Session(run_id="r", events=many(3, time_ns=TIME))))
    path.chmod(0o444)

    done = run_command(tmp_path, "replay", "session.json", "--follow", "--endpoint", sink.url)

    assert done.code == 0
    assert len(came_back(sink.spans).events) == 3
    assert json.loads(path.read_bytes())["run_id"] == "r"
