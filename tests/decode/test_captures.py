"""What real libraries sent is read the same from protobuf and from JSON, with nothing left out."""

from pathlib import Path

import pytest

from critiqor_otel.decode import otlp_json, otlp_protobuf
from critiqor_otel.span import Batch

CAPTURES = Path(__file__).parents[1] / "cases" / "captures"
PROTOBUF = sorted(CAPTURES.glob("*/*.otlp.pb"))


def from_protobuf(path: Path) -> list[Batch]:
    decode = otlp_protobuf.decode_logs if ".logs." in path.name else otlp_protobuf.decode_traces
    return [decode(path.read_bytes())]


def from_json(path: Path) -> list[Batch]:
    decode = otlp_json.decode_logs if ".logs." in path.name else otlp_json.decode_traces
    return [decode(line) for line in path.with_suffix(".jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("path", PROTOBUF, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_protobuf_and_json_of_a_capture_give_the_same_records(path: Path) -> None:
    first, second = from_protobuf(path), from_json(path)

    records = [record for batch in first for record in (*batch.spans, *batch.logs)]
    assert records == [record for batch in second for record in (*batch.spans, *batch.logs)]
    assert records != []
    assert [batch.notes for batch in (*first, *second) if batch.notes] == []
