"""Large files are cut between records, and nothing is lost at a cut."""

from pathlib import Path

import pytest
from command import LOOP
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from scattered import copies, single_records

from analyzer.session.model import Note
from critiqor_otel.engine.parts import from_the_start, in_parts
from critiqor_otel.formats.inputs import Input
from critiqor_otel.formats.reading import read_input
from critiqor_otel.span import Span

PART = 20_000


def spans_of(*inputs: Input) -> list[Span]:
    return [span for one in inputs for batch in read_input(one) for span in batch.spans]


def protobuf(count: int) -> bytes:
    request = ExportTraceServiceRequest()
    for number in range(count):
        scope = request.resource_spans.add().scope_spans.add()
        scope.spans.add(trace_id=bytes([1] * 16), span_id=number.to_bytes(8, "big"), name="x" * 300)
    return request.SerializeToString()


def json_lines(count: int) -> bytes:
    return b"\n".join(copies(single_records([LOOP]), count // 10))


@pytest.mark.parametrize("content", [protobuf(400), json_lines(100)], ids=["protobuf", "JSON lines"])
def test_parts_hold_together_what_the_file_holds(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "large"
    file.write_bytes(content)
    whole = Input(path=str(file), place="large")

    parts = in_parts(whole, PART)

    assert len(parts) > 3
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert spans_of(*parts) == spans_of(whole)


def test_what_may_not_be_cut_is_one_part(tmp_path: Path) -> None:
    lines = json_lines(100).splitlines()
    indented = b"[\n" + b",\n".join(lines) + b"\n]\n"
    (tmp_path / "list.json").write_bytes(indented)

    assert len(in_parts(Input(path=str(tmp_path / "list.json"), place="list.json"), PART)) == 1


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes((number & 127 | 128,))
        number >>= 7
    return out + bytes((number,))


@pytest.mark.parametrize(
    "after",
    [b"\x12\x03abc", b"\x0a" + b"\xff" * 11, b"\x0a" + varint(1 << 40)],
    ids=["another field", "a length without end", "a block beyond the end"],
)
def test_where_blocks_end_the_rest_is_one_part(tmp_path: Path, after: bytes) -> None:
    file = tmp_path / "large"
    sound = protobuf(400)
    file.write_bytes(sound + after + b"x" * PART * 3)

    parts = in_parts(Input(path=str(file), place="large"), PART)

    assert parts[-1].start < len(sound)
    assert parts[-1].end is None
    assert [part.start for part in parts[1:]] == [part.end for part in parts[:-1]]


def test_one_long_line_is_one_part(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b'{"resourceSpans": [' + b" " * 3 * PART + b"]}\n")

    assert len(in_parts(Input(path=str(file), place="large"), PART)) == 1


def test_bytes_of_no_known_layout_are_one_part(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"\x00" * 3 * PART)

    assert len(in_parts(Input(path=str(file), place="large"), PART)) == 1


def test_what_is_no_file_is_one_part(tmp_path: Path) -> None:
    note = Note(code="unreadable", message="the folder is empty", place="f")

    for one in (
        Input(path="-", place="-"),
        Input(path=str(tmp_path / "missing"), place="missing"),
        Input(path=str(tmp_path), place="f", note=note),
    ):
        assert in_parts(one, PART) == [one]


def test_a_file_that_cannot_be_opened_is_one_part(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()  # as large as it likes, and never opened
    one = Input(path=str(tmp_path / "large"), place="large")

    assert in_parts(one, 1) == [one]


def test_only_places_in_the_file_are_counted_from_its_start(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"{}\n" * 10)
    part = Input(path=str(file), place="f", start=12)
    places = ["f:1", "f:3", "f@5", "f", "other:1", None]

    told = [note.place for note in from_the_start(part, [Note(code="c", message="m", place=one) for one in places])]

    assert told == ["f:5", "f:7", "f@17", "f", "other:1", None]
