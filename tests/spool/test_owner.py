import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spool_support import Spool, log_request, trace_request

from critiqor_otel.spool.close_reason import CloseReason
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.record import Encoding, Signal
from critiqor_otel.spool.sink import Sink


def address(number: int, trace: int = 1) -> tuple[str, str]:
    return f"{trace:032x}", f"{number:016x}"


def test_a_session_closes_when_its_root_has_ended_and_it_is_quiet(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(9)
    assert spool.sealed == []

    spool.wait(2)

    assert [run.close_reason for run in spool.sealed] == [CloseReason.ROOT_ENDED_IDLE]
    assert spool.addresses() == {address(1): 1, address(2): 1}


def test_every_new_span_keeps_a_session_open(spool: Spool) -> None:
    for number in range(2, 10):
        spool.send(trace_request(number, root=True, agent=True))
        spool.wait(8)

    assert spool.sealed == []
    assert spool.owner.tally.open_sessions == 1


def test_a_session_without_a_root_closes_when_it_was_idle_long(spool: Spool) -> None:
    spool.send(trace_request(2, 3, critiqor__run_id="r"))
    spool.wait(59)
    assert spool.sealed == []

    spool.wait(2)

    assert [run.close_reason for run in spool.sealed] == [CloseReason.IDLE]


def test_a_session_that_never_falls_quiet_closes_all_the_same(tmp_path: Path) -> None:
    spool = Spool(tmp_path, Patience(longest_ns=30_000_000_000))
    for number in range(2, 9):
        spool.send(trace_request(number, critiqor__run_id="r"))
        spool.wait(5)

    assert [run.close_reason for run in spool.sealed] == [CloseReason.TOO_LONG]
    spool.crash()


def test_a_session_that_grows_too_large_closes_at_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path, Patience(most_spans=10))
    spool.send(trace_request(*range(2, 14)))
    spool.step()

    assert [run.close_reason for run in spool.sealed] == [CloseReason.TOO_LARGE]
    assert len(spool.addresses()) == 12
    spool.crash()


def test_shutting_down_seals_what_is_open_and_leaves_no_journal(spool: Spool, tmp_path: Path) -> None:
    other = Spool(tmp_path / "other", spool.patience)
    other.send(trace_request(1, 2, root=True))
    other.send(trace_request(1, trace=2))
    other.shut_down()

    assert {run.close_reason for run in other.sealed} == {CloseReason.SHUTDOWN}
    assert other.addresses() == {address(1): 1, address(2): 1, address(1, 2): 1}
    assert other.segments() == []


def test_a_flush_seals_at_once(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True))
    spool.owner.flush(spool.now_ns, reason=CloseReason.FLUSH)

    assert [run.close_reason for run in spool.sealed] == [CloseReason.FLUSH]


def test_the_receipt_says_how_the_evidence_came(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.send(trace_request(2, agent=False))
    spool.wait(11)

    receipt = json.loads((Path(spool.sealed[0].folder) / "receipt.json").read_bytes())
    assert (receipt["transport"], receipt["close_reason"], receipt["duplicates"]) == ("otlp/http", "root_ended_idle", 1)


def test_late_spans_become_a_continuation_of_their_run(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True, critiqor__run_id="mine"))
    spool.wait(11)
    spool.send(trace_request(3, 4))
    spool.wait(61)
    spool.wait(61)

    sessions = spool.sessions()
    assert sorted(sessions) == ["mine", "mine~2"]
    assert sessions["mine~2"].continues == "mine"
    assert spool.addresses() == {address(number): 1 for number in (1, 2, 3, 4)}


def test_a_repeated_delivery_of_sealed_spans_changes_nothing(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(11)
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(100)

    assert len(spool.sealed) == 1
    assert spool.owner.tally.duplicates == 2


def test_a_repeated_delivery_after_a_restart_changes_nothing(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(11)
    spool.restart()
    spool.send(trace_request(1, 2, 3, root=True, agent=True))
    spool.wait(11)
    spool.wait(61)

    assert spool.addresses() == {address(number): 1 for number in (1, 2, 3)}


def test_what_was_open_at_a_crash_is_opened_again(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.step()
    spool.send(trace_request(3))
    spool.restart()
    spool.send(trace_request(4))
    spool.wait(11)

    assert spool.addresses() == {address(number): 1 for number in (1, 2, 3, 4)}
    assert len(spool.sealed) == 1


def test_a_crash_between_file_and_index_seals_nothing_twice(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(11)
    spool.crash()
    for part in spool.folder.home.glob("sealed.db*"):
        part.unlink()
    spool.start()
    spool.send(trace_request(1, 2, 3, root=True, agent=True))
    spool.wait(11)
    spool.wait(61)

    assert spool.addresses() == {address(number): 1 for number in (1, 2, 3)}


def test_segments_stay_as_long_as_an_open_session_needs_them(spool: Spool) -> None:
    spool.send(trace_request(2, trace=9, critiqor__run_id="open"))
    for trace in range(10, 40):
        spool.send(trace_request(1, 2, 3, root=True, agent=True, trace=trace))
    spool.wait(11)

    names = [path.name for path in spool.segments()]
    assert len(spool.sealed) == 30
    assert names[0] == f"{1:016d}.journal"
    assert len(names) == 2


def test_a_conversation_waits_as_one_session(spool: Spool) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True, trace=5, gen_ai__conversation__id="talk"))
    spool.wait(5)
    spool.send(trace_request(1, 2, root=True, agent=True, trace=6, gen_ai__conversation__id="talk"))
    spool.wait(11)

    assert [(run.run_id, run.spans) for run in spool.sealed] == [("talk", 4)]


def test_traces_without_agent_or_key_wait_together_for_each_other(spool: Spool) -> None:
    spool.send(trace_request(1, root=True, trace=5))
    spool.send(trace_request(1, root=True, trace=6))
    spool.wait(11)
    assert (spool.sealed, spool.owner.tally.open_sessions) == ([], 1)

    spool.wait(61)

    assert spool.addresses() == {address(1, 5): 1, address(1, 6): 1}


def test_a_trace_in_which_no_agent_speaks_is_sealed_too(spool: Spool) -> None:
    spool.send(trace_request(1, root=True, trace=5, gen_ai__operation__name="nothing_known"))
    spool.owner.flush(spool.now_ns, reason=CloseReason.FLUSH)

    assert spool.addresses() == {address(1, 5): 1}


def test_what_is_decoded_is_forgotten_beyond_the_bound_and_read_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path, Patience(decoded_bytes=500))
    for number in range(2, 40):
        spool.send(trace_request(number, trace=number % 4 + 1, critiqor__run_id=f"run {number % 4}"))
        spool.step()
        assert spool.owner.tally.decoded_bytes <= 500
    spool.send(json_of(trace_request(50, 51, trace=1)), encoding=Encoding.JSON)
    spool.wait(61)

    assert len(spool.sealed) == 4
    assert set(spool.addresses().values()) == {1}
    assert len(spool.addresses()) == 40
    spool.crash()


def json_of(payload: bytes) -> bytes:
    from google.protobuf.json_format import MessageToJson  # noqa: PLC0415
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: PLC0415

    return MessageToJson(ExportTraceServiceRequest.FromString(payload)).encode()


def test_log_records_go_with_their_span(spool: Spool) -> None:
    spool.send(log_request(2), signal=Signal.LOGS)
    spool.send(trace_request(1, 2, root=True, agent=True))
    spool.wait(11)

    assert spool.owner.tally.unplaced_logs == 0
    assert "gen_ai.choice" in (Path(spool.sealed[0].folder) / "session.json").read_text()


def test_log_records_without_a_place_are_counted(spool: Spool) -> None:
    spool.send(log_request(0, trace=0), signal=Signal.LOGS)
    spool.send(log_request(7, trace=7), signal=Signal.LOGS)
    spool.wait(61)
    spool.wait(61)

    assert spool.owner.tally.unplaced_logs == 2


def test_a_record_that_cannot_be_decoded_is_kept_as_it_came(spool: Spool) -> None:
    spool.send(b"[1, 2]", encoding=Encoding.JSON)
    spool.send(trace_request(1, root=True, agent=True))
    spool.wait(11)

    (word, facts), *_ = spool.told
    assert word == "undecoded-traces-json"
    assert Path(str(facts["kept"])).read_bytes() == b"[1, 2]"
    assert len(spool.sealed) == 1


def test_a_damaged_record_is_reported_and_the_rest_recovered(spool: Spool) -> None:
    for number in (1, 2, 3):
        spool.send(trace_request(number, root=number == 1, agent=True))
    path = spool.segments()[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    spool.restart()
    spool.wait(11)

    assert spool.owner.tally.damaged == 1
    assert [word for word, _ in spool.told] == ["journal-damaged"]
    assert spool.addresses() == {address(1): 1, address(3): 1}


def test_a_session_that_cannot_be_written_is_tried_again(spool: Spool) -> None:
    spool.send(trace_request(1, root=True, agent=True, critiqor__run_id="blocked"))
    (spool.folder.runs / "blocked").write_text("a file where the folder should be")
    spool.wait(11)
    assert (spool.sealed, spool.owner.tally.failing) == ([], 1)
    assert [word for word, _ in spool.told] == ["not-sealed"]

    (spool.folder.runs / "blocked").unlink()
    spool.wait(3)

    assert spool.addresses() == {address(1): 1}
    assert spool.owner.tally.failing == 0


@pytest.mark.parametrize("quiet", [1, 61])
def test_spans_that_are_sent_again_while_their_session_cannot_be_written_are_sealed_once(
    spool: Spool, quiet: int
) -> None:
    spool.send(trace_request(1, 2, root=True, agent=True, critiqor__run_id="blocked"))
    (spool.folder.runs / "blocked").write_text("a file where the folder should be")
    spool.wait(11)
    spool.send(trace_request(1, 2, 3, root=True, agent=True, critiqor__run_id="blocked"))
    spool.wait(quiet)  # the second session is open still, or closed and not written either

    (spool.folder.runs / "blocked").unlink()
    spool.wait(61)
    spool.wait(3)

    assert spool.addresses() == {address(1): 1, address(2): 1, address(3): 1}
    assert spool.owner.tally.failing == 0


def test_a_flush_writes_both_sessions_of_a_trace_that_could_not_be_written(spool: Spool) -> None:
    spool.send(trace_request(1, root=True, agent=True, critiqor__run_id="blocked"))
    (spool.folder.runs / "blocked").write_text("a file where the folder should be")
    spool.wait(11)
    spool.send(trace_request(1, 2, root=True, agent=True, critiqor__run_id="blocked"))
    spool.wait(61)
    assert spool.owner.tally.failing == 2

    (spool.folder.runs / "blocked").unlink()
    spool.owner.flush(spool.now_ns, reason=CloseReason.FLUSH)

    assert spool.addresses() == {address(1): 1, address(2): 1}


def test_a_fault_of_ours_keeps_the_bytes_and_goes_on(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    spool.send(trace_request(1, root=True, agent=True))
    with monkeypatch.context() as patched:
        patched.setattr(Sink, "_made", fail)
        spool.wait(11)
    spool.send(trace_request(1, root=True, agent=True, trace=2))
    spool.wait(11)

    kept = list(spool.folder.aside.iterdir())
    assert [path.read_bytes() for path in kept] == [trace_request(1, root=True, agent=True)]
    assert spool.addresses() == {address(1, 2): 1}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("send"), st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 4)),
        st.tuples(st.just("wait"), st.sampled_from((1, 11, 61)), st.just(0)),
        st.tuples(st.just("crash"), st.just(0), st.just(0)),
        st.tuples(st.just("forget index"), st.just(0), st.just(0)),
        st.tuples(st.just("flush"), st.just(0), st.just(0)),
    ),
    max_size=14,
)


@settings(max_examples=60)
@given(steps=STEPS)
def test_whatever_happens_every_span_is_in_exactly_one_session(
    steps: list[tuple[str, object, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    spool = Spool(tmp_path_factory.mktemp("runs"), Patience(decoded_bytes=900, most_spans=25))
    sent: set[tuple[str, str]] = set()
    for word, argument, trace in steps:
        if word == "send":
            numbers: list[int] = argument  # type: ignore[assignment]
            key = {"critiqor__run_id": "both"} if trace > 2 else {}
            spool.send(trace_request(*numbers, trace=trace, root=1 in numbers, agent=trace == 1, **key))
            sent |= {address(number, trace) for number in numbers}
        elif word == "wait":
            spool.wait(float(str(argument)))
        elif word == "flush":
            spool.owner.flush(spool.now_ns, reason=CloseReason.FLUSH)
        else:
            spool.crash()
            if word == "forget index":
                for part in spool.folder.home.glob("sealed.db*"):
                    part.unlink()
            spool.start()
    spool.shut_down()

    assert spool.addresses() == dict.fromkeys(sent, 1)
    assert spool.segments() == []
    assert spool.told == []


def test_a_receipt_that_a_crash_took_is_written_at_the_next_start(spool: Spool) -> None:
    spool.send(trace_request(1, root=True, agent=True))
    spool.wait(11)
    folder = Path(spool.sealed[0].folder)
    (folder / "receipt.json").unlink()
    spool.crash()
    for part in spool.folder.home.glob("sealed.db*"):
        part.unlink()
    spool.start()

    receipt = json.loads((folder / "receipt.json").read_bytes())
    assert receipt["close_reason"] == "unknown"
    assert receipt["digest"].startswith("sha256:")


def test_a_session_that_a_plugin_is_still_writing_gets_no_receipt(spool: Spool) -> None:
    folder = spool.folder.runs / "run_001"
    folder.mkdir()
    (folder / "session.json").write_text('{"run_id": "run_001", "events": []}')
    spool.restart()

    assert [path.name for path in folder.iterdir()] == ["session.json"]
