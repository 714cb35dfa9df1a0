"""Records are packed and unpacked without loss, and what they share they share again."""

from critiqor_otel.engine.packing import Packer, Segment, pack_segment, unpack, unpack_segment
from critiqor_otel.span import Batch, Resource, Scope, Span

MANY = 50


def test_a_resource_of_many_spans_is_one_thing_again_however_large() -> None:
    resource, scope = Resource({"process.command_args": "x" * 40_000}), Scope("agent")
    spans = [
        Span(trace_id="1" * 32, span_id=f"{n:016x}", name="s", resource=resource, scope=scope) for n in range(MANY)
    ]
    packer = Packer("a.jsonl")
    records = list(packer.records(Batch(spans=spans)))

    segment = unpack_segment(pack_segment(Segment("a.jsonl", *packer.tables(), records)))
    unpacked = unpack((segment, record) for record in segment.records).spans

    assert unpacked == spans
    assert len({id(span.resource) for span in unpacked}) == 1
    assert len({id(span.scope) for span in unpacked}) == 1
