"""However records lie in a file, and whatever lies between them, the whole ones are read and the rest is told."""

import contextlib
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import zstandard
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from small_inputs import FORMATS, LOGS, SPANS
from written_otlp import log_request, standard_json, trace_request

from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.reading import read_bytes, read_stream
from critiqor_otel.span import Batch, Span

CASES = Path(__file__).parent / "cases"
REQUEST = trace_request(SPANS)
LINE = standard_json(REQUEST)
INDENTED = json.dumps(json.loads(LINE), indent=2).encode()
FLAT = json.dumps(json.loads(LINE), indent=0).encode()
PROTOBUF = REQUEST.SerializeToString()
LOG_LINE, LOG_PROTOBUF = standard_json(log_request(LOGS)), log_request(LOGS).SerializeToString()
METRICS = ExportMetricsServiceRequest()
METRICS.resource_metrics.add().scope_metrics.add().metrics.add(name="m").gauge.data_points.add(as_int=1)


def read(data: bytes) -> list[Batch]:
    return list(read_bytes(data, place="file"))


def spans(data: bytes) -> list[Span]:
    return [span for batch in read(data) for span in batch.spans]


def notes(data: bytes) -> list[tuple[str, str | None]]:
    return [(note.code, note.place) for batch in read(data) for note in batch.notes]


def framed(*messages: bytes) -> bytes:
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


WHOLE = {
    "one line": LINE,
    "lines": LINE + b"\n" + LINE + b"\n",
    "lines of Windows": LINE + b"\r\n\r\n" + LINE + b"\r\n",
    "byte order mark and NULs": b"\xef\xbb\xbf" + bytes(64) + LINE + b"\n" + bytes(9) + LINE,
    "right after another": LINE * 3,
    "indented": INDENTED,
    "indented, one after another": INDENTED + b"\n" + INDENTED + b"\n",
    "indented, right after another": INDENTED * 3,
    "indented by nothing": FLAT + b"\n" + FLAT,
    "indented as a whole": b"\n".join(b"    " + line for line in (INDENTED + b"\n" + INDENTED).splitlines()),
    "a list": b"[" + LINE + b"," + LINE + b"]",
    "a list of lines": b"[\n" + LINE + b",\n" + LINE + b"\n]\n",
    "protobuf": PROTOBUF,
    "protobuf, several": PROTOBUF * 3,
    "length-prefixed": framed(PROTOBUF, PROTOBUF),
    "length-prefixed zstd": framed(zstandard.compress(PROTOBUF), zstandard.compress(LINE)),
    "gzip": gzip.compress(LINE),
    "gzip, several members": gzip.compress(LINE + b"\n") + gzip.compress(LINE) + bytes(20),
    "zstd": zstandard.compress(PROTOBUF),
    "zstd, several frames": zstandard.compress(LINE + b"\n") + zstandard.compress(LINE),
    "zstd inside gzip": gzip.compress(zstandard.compress(framed(PROTOBUF))),
    "as PowerShell writes": (LINE + b"\r\n" + LINE).decode().encode("utf-16"),
}


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_whole_records_are_read_in_every_layout(data: bytes) -> None:
    found = spans(data)

    assert found == SPANS * (len(found) // len(SPANS))
    assert found != []
    assert notes(data) == []


@pytest.mark.parametrize(
    "data",
    [
        b"\n".join((LINE, LOG_LINE, b'{"resourceMetrics":[]}')),
        PROTOBUF + LOG_PROTOBUF + METRICS.SerializeToString(),
        framed(PROTOBUF, LOG_PROTOBUF, METRICS.SerializeToString()),
        framed(*map(zstandard.compress, (LINE, LOG_PROTOBUF, METRICS.SerializeToString()))),
        LINE[:-1] + b"," + LOG_LINE[1:-1] + b',"resourceMetrics":[]}',
    ],
    ids=["lines", "protobuf", "length-prefixed", "length-prefixed zstd", "one request"],
)
def test_all_signals_of_a_file_are_read_and_metrics_are_counted(data: bytes) -> None:
    batches = read(data)

    assert [span for batch in batches for span in batch.spans] == SPANS
    assert [log for batch in batches for log in batch.logs] == LOGS
    assert sum(batch.skipped for batch in batches) == 1
    assert notes(data) == []


BROKEN: dict[str, tuple[bytes, int, list[tuple[str, str]]]] = {
    "a cut last line": (LINE + b"\n" + LINE[:300], 1, [("cut-file", "file:2")]),
    "a cut first line": (LINE[:300] + b"\n" + LINE + b"\n" + LINE, 2, [("cut-file", "file:1")]),
    "a line cut outside of a string": (LINE[: LINE.rindex(b', "status"')] + b"\n" + LINE, 1, [("cut-file", "file:1")]),
    "a record behind a cut one": (LINE[:300] + LINE + b"\n" + LINE, 2, [("cut-file", "file:1")]),
    "a cut indented record": (INDENTED[:700] + b"\n" + INDENTED + b"\n" + INDENTED, 2, [("cut-file", "file:1")]),
    "a cut record without indents": (FLAT[: FLAT.index(b"tracer") + 3] + b"\n" + FLAT, 1, [("cut-file", "file:1")]),
    "text between": (
        b"hello\n" + LINE + b"\n# {x\n[a\n}}}\n" + LINE,
        2,
        [("unreadable-record", f"file:{line}") for line in (1, 3, 4, 5)],
    ),
    "other JSON between": (LINE + b'\n{"a": 1}\n' + INDENTED, 2, [("unreadable-record", "file:2")]),
    "binary between": (LINE + b"\n\x01\x02\xff\n" + LINE, 2, [("unreadable-record", "file:2")]),
    "protobuf and text": (PROTOBUF + b"garbage", 1, [("cut-file", f"file@{len(PROTOBUF)}")]),
    "cut protobuf": (PROTOBUF * 2 + PROTOBUF[:200], 2, [("cut-file", f"file@{len(PROTOBUF) * 2}")]),
    "a bad frame": (
        framed(PROTOBUF, b"\x0a\x00\xff", PROTOBUF),
        2,
        [("cut-file", f"file@{len(PROTOBUF) + 4}")],
    ),
    "a cut frame": (
        framed(PROTOBUF, zstandard.compress(LINE))[:-9],
        1,
        [("cut-file", f"file@{len(PROTOBUF) + 4}"), ("unreadable-record", f"file@{len(PROTOBUF) + 4}")],
    ),
    "garbage after gzip": (gzip.compress(LINE) + b"garbage", 1, [("cut-file", "file")]),
    "cut gzip": (
        gzip.compress(LINE + b"\n") + gzip.compress(LINE)[:-30],
        1,
        [("cut-file", "file:2"), ("cut-file", "file")],
    ),
    "cut zstd": (zstandard.compress(LINE) + zstandard.compress(b"\n" + LINE)[:-30], 1, [("cut-file", "file")]),
}


@pytest.mark.parametrize(("data", "records", "told"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_costs_itself_only(data: bytes, records: int, told: list[tuple[str, str]]) -> None:
    assert spans(data) == SPANS * records
    assert notes(data) == told


@pytest.mark.parametrize("size", range(60, len(LINE), 97))
def test_of_a_lone_cut_document_the_whole_spans_are_kept(size: int) -> None:
    for text in (LINE, INDENTED):
        cut = text[: len(text) * size // len(LINE)]
        try:
            found = spans(cut)
        except UnreadableInputError:
            found = []

        assert found == [span for span in SPANS if span.span_id in {kept.span_id for kept in found}]
        assert len(found) >= text[: len(cut)].count(b'"events"') - 1


def test_of_a_lone_cut_protobuf_request_the_whole_spans_are_kept() -> None:
    for size in range(1, len(PROTOBUF)):
        try:
            found = spans(PROTOBUF[:size])
        except UnreadableInputError:
            found = []

        assert found == SPANS[: len(found)]


def test_of_a_lone_cut_list_the_whole_spans_are_kept() -> None:
    data = (FORMATS / "zipkin_v2.json").read_bytes()

    assert len(spans(data[:20_000])) == 3
    assert notes(data[:20_000]) == [("cut-file", "file:1")]


UNREADABLE = {
    "nothing": (b"", "it is empty"),
    "blanks": (b" \n\0\n", "it looks like blanks"),
    "text": (b"hello world\n", "it looks like text that begins with 'hello world'"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(30), "it looks like a PNG image"),
    "random bytes": (bytes(range(200, 256)) * 3, "it looks like binary data that begins with c8 c9"),
    "other JSON": (b'{"a": 1, "b": 2}', "a JSON object with the keys a, b: of no format that is known here"),
    "an answer without spans": (b'{"error": "not found"}', "a JSON object with the keys error"),
    "cut JSON": (LINE[:50], "line 1: the end of the document is missing"),
    "broken JSON": (LINE.replace(b'"spans": [', b'"spans": [}'), "line 1: no JSON"),
    "nothing in gzip": (gzip.compress(b""), "it is empty"),
    "broken gzip": (gzip.compress(LINE)[:15], "the gzip data ends in the middle"),
    "cut protobuf": (PROTOBUF[:40], "byte 0: the file ends"),
    "brackets": (b"[" * 100_000, "line 1: the end of the document is missing"),
}


@pytest.mark.parametrize(("data", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_input_without_anything_readable_says_what_it_looks_like(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableInputError) as raised:
        read(data)

    assert str(raised.value).startswith("file: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"resourceSpans":[]}', b'{"data":[]}', b'{"resourceMetrics":[]}'])
def test_an_input_that_holds_no_spans_is_read_all_the_same(data: bytes) -> None:
    assert spans(data) == []


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"resourceSpans":[]}', b'{"data":[]}'])
def test_an_input_that_holds_nothing_says_so(data: bytes) -> None:
    (note,) = (note for batch in read(data) for note in batch.notes)

    assert (note.code, note.place) == ("empty-input", "file")
    assert note.message == "it is JSON and holds no spans, no log records and no session"


def test_the_place_of_a_fault_is_told_once() -> None:
    (note,) = (note for batch in read(LINE + b'\n{"a": nope}\n') for note in batch.notes)

    assert (note.place, note.message) == ("file:2", "no JSON: Expecting value at character 7; left out")


def test_a_flood_of_faults_is_counted() -> None:
    told = [note for batch in read(LINE + b"\nx" * 500) for note in batch.notes]

    assert len(told) == 21
    assert told[-1].message == "480 more such places"


def test_a_rotated_file_of_the_collector_is_read_as_the_report_asks() -> None:
    data = (CASES / "12-collector-file-rotated.jsonl").read_bytes()

    assert len(spans(data)) == 5
    assert sum(len(batch.logs) for batch in read(data)) == 1
    assert sum(batch.skipped for batch in read(data)) == 1
    assert notes(data) == [("cut-file", "file:6")]


def test_gzip_is_found_by_its_content() -> None:
    assert len(spans((CASES / "12b-collector-file.jsonl.gz").read_bytes())) == 5


def test_batches_sent_again_are_all_read() -> None:
    found = spans((CASES / "01-duplicate-batches-after-retry.otlp.jsonl").read_bytes())

    assert (len(found), len({(span.trace_id, span.span_id) for span in found})) == (10, 5)


def test_invalid_ids_are_named() -> None:
    data = (CASES / "10a-mixed-batch-invalid-ids.request.json").read_bytes()

    (batch,) = read(data)

    assert (len(batch.spans), batch.rejected) == (1, 3)
    assert batch.notes[0].message == (
        "3 records left out, having no valid ids: trace id all zero; trace id empty; trace id of 4 characters"
    )


def test_every_legal_spelling_at_once() -> None:
    first, minimal, nulls = spans((CASES / "09-json-mapping-variants.otlp.json").read_bytes())

    assert first.trace_id == minimal.trace_id == nulls.trace_id == "60d4d22e3809f7806ac49d33dd8ba5b4"
    assert nulls.parent_span_id == first.span_id == "369403933064ebc8"
    assert first.end_ns - first.start_ns == 1_000_000_001
    assert first.attributes["i.big"] == 2**63 - 1
    assert first.attributes["i.2p53"] == 2**53 + 1
    assert first.attributes["b64"] == b"\xde\xad\xbe\xef"
    assert first.attributes["arr1"] == [1, "two", None]
    assert first.attributes["kvl"] == {"a": {"b": True}}
    assert first.attributes["uni"] == "na\u00efve 日本 😀 \0 end"
    assert notes((CASES / "09-json-mapping-variants.otlp.json").read_bytes()) == []


def test_values_of_unexpected_types_are_kept() -> None:
    found = spans((CASES / "17-wrong-typed-and-huge-values.otlp.json").read_bytes())

    tokens = [span.attributes.get("gen_ai.usage.input_tokens") for span in found]
    assert tokens == [None, 3_000_000_000, "812", 12.0]
    assert found[0].attributes["gen_ai.agent.name"] == 7


class Endless(io.RawIOBase):
    """A stream that makes its content while it is read, and knows how much it gave."""

    def __init__(self, record: bytes, times: int) -> None:
        self.given = 0
        self._content = iter([record] * times)
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._left:
            self._left = next(self._content, b"")
        part, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(part)] = part
        self.given += len(part)
        return len(part)


def records_and_bytes(record: bytes, times: int) -> Iterator[tuple[int, int]]:
    source = Endless(record, times)
    for number, batch in enumerate(read_stream(io.BufferedReader(source), place="pipe"), 1):
        assert batch.notes == ()
        yield number, source.given


BIG = json.dumps({"resourceSpans": json.loads(LINE)["resourceSpans"] * 400}, indent=2).encode() + b"\n"
READ_AHEAD = 1 << 22


@pytest.mark.parametrize("layout", ["indented", "lines", "right after another"])
def test_tens_of_megabytes_of_objects_are_read_one_at_a_time(layout: str) -> None:
    document = json.loads(BIG)
    record = {
        "indented": BIG,
        "lines": json.dumps(document).encode() + b"\n",
        "right after another": json.dumps(document, indent=2).encode(),
    }[layout]
    times = {"indented": 80_000_000, "lines": 40_000_000, "right after another": 20_000_000}[layout] // len(record)

    progress = list(records_and_bytes(record, times))

    assert len(progress) == times
    assert all(given <= number * len(record) + READ_AHEAD for number, given in progress)


def test_protobuf_is_read_a_few_blocks_at_a_time() -> None:
    blocks = PROTOBUF * 500

    progress = list(records_and_bytes(blocks, 15))

    assert len(progress) > 15
    assert progress[0][1] < READ_AHEAD


def test_a_gzip_bomb_is_inflated_piece_by_piece() -> None:
    line = LINE + b" " * 1_000_000 + b"\n"

    progress = list(records_and_bytes(gzip.compress(line * 20), 3))

    assert len(progress) == 60


SLOW = {
    "brackets that never match": b"{\n" + b" [[[[\n" * 20_000 + b"}\n" * 20_000,
    "a cut text with many quotes in it": LINE[:-60] + b'"' + b'\\"' * 300_000,
    "a cut text that ends in an escape": LINE[:-60] + b'"' + b'\\"' * 300_000 + b"\\",
    "lines that open something": b'{"a": 1,\n' * 50_000,
    "lines that close something": b"}\n" * 50_000,
    "lines that do both": b'{"a": [}\n' * 50_000,
    "left-out parts of JavaScript": b"{ traceId: " + b"[Object" * 100_000 + b"}",
    "quotes": b"{" + b'"' * 300_001,
    "escapes": b'{"' + b"\\" * 300_001,
}


@pytest.mark.parametrize("data", SLOW.values(), ids=SLOW)
def test_what_can_not_be_read_takes_time_in_proportion(data: bytes) -> None:
    before = process_time()

    with contextlib.suppress(UnreadableInputError):
        read(data)

    assert process_time() - before < 5


def test_profiles_are_counted_like_metrics() -> None:
    assert [batch.skipped for batch in read(b'{"resourceProfiles":[{}]}')] == [1]
