"""Large files are cut between records, and nothing is lost at a cut."""

from pathlib import Path

import pytest
from command import LOOP
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from scattered import copies, single_records

from critiqor_otel.engine.parts import in_parts
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
