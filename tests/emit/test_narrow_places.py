"""What runs out, goes away or is odd around an observed agent: bounds, forks, exporters, proxies and values."""

import asyncio
import base64
import enum
import gc
import logging
import os
import signal
from collections import OrderedDict, UserDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from otlp_sink import Answer, Sink
from real_programs import wait_until
from sdk_spans import ended_spans
from typing_extensions import override

from analyzer.session.codec import read_session, write_session
from analyzer.session.model import Event, Session
from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.emit.aside import Aside
from critiqor_otel.emit.batching import BatchOptions, SpanBatcher
from critiqor_otel.emit.delivery import Patience
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.emit.helper_process import HelperProcess
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.otlp_settings import OtlpSettings
from critiqor_otel.emit.otlp_wire import OtlpEncoder, request_of
from critiqor_otel.emit.plain_values import attribute_of_json
from critiqor_otel.emit.processor import CritiqorSpanProcessor
from critiqor_otel.emit.recorder import monitor, wrap_tool
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.replay import follow
from critiqor_otel.emit.session_exporter import SessionExporter
from critiqor_otel.emit.session_writer import WriterConfig
from critiqor_otel.emit.stamping import Stamps
from critiqor_otel.emit.tool_wrapping import Unrecorded, wrap
from critiqor_otel.emit.watch import Alarm, Watch
from critiqor_otel.span import Span
from critiqor_otel.testing import MemorySink, traced

QUICK = Patience(timeout=5, retry_for=1, first_delay=0.01, longest_delay=0.02)
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink().running() as running:
        yield running


class Plain(SpanExporter):
    """Somebody else's exporter, which takes what it is given, or fails."""

    def __init__(self, *, fails: bool = False) -> None:
        self.taken: list[ReadableSpan] = []
        self._fails = fails

    @override
    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._fails:
            raise RuntimeError("no room")
        self.taken += spans
        return SpanExportResult.SUCCESS


class Collecting(Plain):
    """An exporter that takes spans a few at a time, and fails to send them."""

    def collect(self, spans: Sequence[ReadableSpan]) -> None:
        self.taken += spans

    def send_collected(self) -> None:
        raise RuntimeError("no way")


def in_a_child(act: Callable[[], object]) -> int:
    """Do something in a forked child; return its exit code, 1 when it raised."""
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001  # the parent's test is not to go on in the child
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_the_batcher_serves_any_exporter() -> None:
    exporter = Plain()
    batcher = SpanBatcher(exporter, BatchOptions(batch=2))
    for span in ended_spans(5):
        batcher.on_end(span)

    assert batcher.force_flush()
    assert len(exporter.taken) == 5
    batcher.shutdown()


def test_an_exporter_that_fails_costs_its_batch_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    batcher = SpanBatcher(Plain(fails=True), BatchOptions(batch=2))
    collecting = Collecting()
    other = SpanBatcher(collecting)
    with caplog.at_level(logging.ERROR):
        for span in ended_spans(2):
            batcher.on_end(span)
            other.on_end(span)
        assert batcher.force_flush()
        assert other.force_flush()
        batcher.shutdown()
        other.shutdown()

    assert "An exporter failed on 2 spans" in caplog.text
    assert "An exporter failed to send what it had collected" in caplog.text
    assert len(collecting.taken) == 2


def test_spans_that_are_not_sampled_do_not_wait() -> None:
    exporter = Plain()
    batcher = SpanBatcher(exporter)
    batcher.on_end(ReadableSpan("without a context"))
    batcher.shutdown()

    assert exporter.taken == []


def test_a_processor_that_was_let_go_of_is_not_missed_in_a_forked_child() -> None:
    CritiqorSpanProcessor(end_open=False)

    assert in_a_child(lambda: None) == 0


def test_a_batcher_that_was_shut_stays_shut_in_a_forked_child() -> None:
    exporter = Plain()
    batcher = SpanBatcher(exporter)
    batcher.shutdown()

    def tell() -> None:
        batcher.on_end(ended_spans(1)[0])
        assert batcher.force_flush()
        assert exporter.taken == []

    assert in_a_child(tell) == 0


def test_events_kept_aside_are_bounded_and_go_with_the_last_who_asked() -> None:
    aside = Aside(most=2)
    aside.put("s", 0, Event(event_id="1", event="tool", event_type="tool_call"))
    aside.ask()
    aside.ask()
    for number in range(4):
        aside.put("s", number, Event(event_id="1", event="tool", event_type="tool_call"))

    assert [aside.take("s", number) is not None for number in range(4)] == [False, False, True, True]
    aside.release()
    assert aside.take("s", 3) is not None
    aside.release()
    assert aside.take("s", 3) is None


def test_the_spans_of_a_forked_child_go_over_its_own_connection(sink: Sink) -> None:
    exporter = OTLPSpanExporter(endpoint=sink.url, patience=QUICK)
    exporter.export(ended_spans(1))

    def tell() -> None:
        assert exporter.export(ended_spans(2)) is SpanExportResult.SUCCESS

    assert in_a_child(tell) == 0
    assert exporter.export(ended_spans(1)) is SpanExportResult.SUCCESS
    assert len(sink.spans) == 4
    exporter.shutdown()


def test_a_proxy_of_the_environment_is_asked_for_plain_http(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    place = sink.url.removeprefix("http://").removesuffix("/v1/traces")
    monkeypatch.setenv("http_proxy", place)
    monkeypatch.setenv("no_proxy", "")
    exporter = OTLPSpanExporter("http://name:pass%20word@collector.example:4318/v1/traces?team=a", patience=QUICK)

    assert exporter.export(ended_spans(1)) is SpanExportResult.SUCCESS
    assert sink.paths == ["http://collector.example:4318/v1/traces?team=a"]
    assert sink.headers[0]["authorization"] == f"Basic {base64.b64encode(b'name:pass word').decode()}"
    exporter.shutdown()


def test_through_a_proxy_https_is_tunnelled(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy of this test knows no CONNECT, and says so."""
    monkeypatch.setenv("https_proxy", sink.url.removesuffix("/v1/traces"))
    monkeypatch.setenv("no_proxy", "")
    exporter = OTLPSpanExporter("https://collector.example/v1/traces", patience=Patience(timeout=5, retry_for=0.0))

    assert exporter.export(ended_spans(1)) is SpanExportResult.FAILURE
    assert exporter.lost == 1
    exporter.shutdown()


def test_hosts_that_are_to_be_reached_without_the_proxy_are(sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    exporter = OTLPSpanExporter(sink.url, patience=QUICK)

    assert exporter.export(ended_spans(1)) is SpanExportResult.SUCCESS
    exporter.shutdown()


def test_what_was_lost_is_told_again_when_the_telling_was_lost_too(sink: Sink) -> None:
    sink.answers += [Answer(400), Answer(400)]
    exporter = OTLPSpanExporter(sink.url, patience=QUICK)
    for _ in range(3):
        exporter.export(ended_spans(1))

    assert sink.spans[0].attributes["critiqor.lost_spans"] == 2
    exporter.shutdown()


def test_a_receiver_that_closes_after_each_answer_gets_everything(sink: Sink) -> None:
    sink.rule = lambda _: Answer(headers={"connection": "close"})
    exporter = OTLPSpanExporter(sink.url, patience=QUICK)

    assert [exporter.export(ended_spans(1)) for _ in range(3)] == [SpanExportResult.SUCCESS] * 3
    exporter.shutdown()


def test_a_receiver_of_tiny_requests_gets_each_span_as_small_as_it_can_be(sink: Sink) -> None:
    sink.rule = lambda body: Answer(413) if len(body) > 40 else Answer()
    exporter = OTLPSpanExporter(sink.url, patience=QUICK)

    assert exporter.export(ended_spans(3, 20_000)) is SpanExportResult.FAILURE
    assert exporter.lost == 3
    exporter.shutdown()


class Colour(enum.StrEnum):
    RED = "red"


class Odd:
    def __str__(self) -> str:
        return "odd"


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def sent(attributes: dict[str, Any]) -> Span:
    """Return a neutral span as a receiver reads it."""
    span = Span(trace_id="1" * 32, span_id="2" * 16, name="a", attributes=attributes)
    return decode_traces(request_of([OtlpEncoder(None).span(span)])).spans[0]


def test_values_of_any_shape_are_written_as_what_they_are_like() -> None:
    values = {
        "enum": Colour.RED,
        "ordered": OrderedDict(a=1),
        "mapping": UserDict(b=True),
        "odd": Odd(),
    }

    assert sent(values).attributes == {
        "enum": "red",
        "ordered": {"a": 1},
        "mapping": {"b": True},
        "odd": "odd",
    }


def test_what_is_nested_too_deep_is_told_as_text() -> None:
    told = sent({"deep": deep(200)}).attributes["deep"]
    levels = 0
    while isinstance(told, list):
        told, levels = told[0], levels + 1

    assert isinstance(told, str)
    assert levels < 200


def test_many_names_do_not_add_up() -> None:
    encoder = OtlpEncoder(None)
    spans = [Span(trace_id="1" * 32, span_id=f"{n:016x}", attributes={f"key.{n}": n}) for n in range(1, 6_000)]

    read = decode_traces(request_of([encoder.span(span) for span in spans])).spans

    assert [span.attributes for span in read] == [span.attributes for span in spans]


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ({"doubleValue": "Infinity"}, float("inf")),
        ({"doubleValue": "much"}, {"doubleValue": "much"}),
        ({"bytesValue": "AAE="}, b"\x00\x01"),
        ({"bytesValue": "no base64"}, {"bytesValue": "no base64"}),
        ({"bytesValue": 3}, {"bytesValue": 3}),
        ([{"a": 1, "b": None}], [{"a": 1, "b": None}]),
    ],
)
def test_attributes_of_session_files_are_read_back(told: Any, meant: Any) -> None:
    assert attribute_of_json(told) == meant


class Recorded(Unrecorded):
    """What a wrapped tool's calls came to."""

    def __init__(self) -> None:
        self.outputs: list[Any] = []
        self.errors: list[BaseException] = []

    @override
    def done(self, output: Any) -> None:
        self.outputs.append(output)

    @override
    def failed(self, error: BaseException) -> None:
        self.errors.append(error)


def recorded(func: Callable[..., Any]) -> tuple[Callable[..., Any], Recorded]:
    run = Recorded()
    return wrap(func, lambda _args, _kwargs: run), run


def test_a_plain_function_that_hands_on_a_coroutine_is_done_when_that_is() -> None:
    async def search(word: str) -> str:
        return f"found {word}"

    tool, run = recorded(partial(search))

    assert asyncio.run(_awaited(tool("a"))) == "found a"
    assert run.outputs == ["found a"]


async def _awaited(waiting: Any) -> Any:
    return await waiting


def test_a_coroutine_that_fails_is_told_and_raises_on() -> None:
    async def search() -> None:
        raise LookupError

    tool, run = recorded(search)

    with pytest.raises(LookupError):
        asyncio.run(_awaited(tool()))
    assert [type(error) for error in run.errors] == [LookupError]


def test_a_long_generator_is_told_by_its_first_items_and_a_count() -> None:
    def pages() -> Iterator[int]:
        yield from range(1_500)

    tool, run = recorded(pages)

    assert sum(1 for _ in tool()) == 1_500
    assert len(run.outputs[0]) == 1_001
    assert run.outputs[0][-1] == "… and 500 more items"


def test_what_is_thrown_into_a_generator_reaches_the_tool() -> None:
    def pages() -> Iterator[str]:
        try:
            yield "first"
        except LookupError:
            yield "caught"

    tool, run = recorded(pages)
    steps = tool()

    assert next(steps) == "first"
    assert steps.throw(LookupError()) == "caught"
    assert list(steps) == []
    assert run.outputs == [["first", "caught"]]


def test_an_async_generator_is_closed_thrown_into_and_failed_as_without_us() -> None:
    async def pages() -> Any:
        try:
            yield "first"
        except LookupError:
            yield "caught"
        raise ValueError("no more")

    async def use() -> list[str]:
        seen = []
        steps = tool()
        seen.append(await anext(steps))
        await steps.aclose()
        steps = tool()
        seen.append(await anext(steps))
        seen.append(await steps.athrow(LookupError()))
        with pytest.raises(ValueError, match="no more"):
            await anext(steps)
        return seen

    tool, run = recorded(pages)

    assert asyncio.run(use()) == ["first", "first", "caught"]
    assert run.outputs == [["first"]]
    assert [str(error) for error in run.errors] == ["no more"]


def test_the_watch_forgets_the_oldest_runs_and_calls() -> None:
    alarms: list[Alarm] = []
    watch = Watch(alarms.append)
    call, other = (_ended({**TOOL, "gen_ai.tool.call.arguments": text}) for text in ('{"a": 1}', '{"a": 2}'))
    for number in range(1_001):
        watch.look_at(call, f"run-{number}")
    watch.look_at(call, "run-0")
    watch.look_at(call, "run-0")
    assert alarms == []  # its first call was forgotten

    for number in range(1_001):
        watch.look_at(_ended({**TOOL, "gen_ai.tool.call.arguments": f'{{"n": {number}}}'}), "many")
    watch.look_at(other, "many")
    assert alarms == []


def _ended(attributes: dict[str, Any]) -> ReadableSpan:
    sink: list[ReadableSpan] = []
    provider = TracerProvider(shutdown_on_exit=False)
    span = provider.get_tracer("agent").start_span("execute_tool search", attributes=attributes)
    span.end()
    assert isinstance(span, ReadableSpan)
    sink.append(span)
    return sink[0]


def test_open_spans_and_runs_beyond_the_bound_are_let_go_of_the_oldest_first() -> None:
    sink = MemorySink()
    processor = CritiqorSpanProcessor(end_open=False)
    tracer = traced(sink, processor).get_tracer("agent")
    for _ in range(10_001):  # runs, each a trace of its own
        tracer.start_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}, context=None).end()
    with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
        held = [tracer.start_span(f"execute_tool {n}", attributes=TOOL) for n in range(10_001)]
        ended = processor.end_open_spans()

    assert 1 < ended < len(held) + 1


def test_a_session_exporter_that_is_shut_takes_nothing(tmp_path: Path) -> None:
    exporter = SessionExporter(str(tmp_path / "runs"))
    exporter.shutdown()
    exporter.shutdown()

    assert exporter.export(ended_spans(1)) is SpanExportResult.FAILURE


def test_a_helper_that_is_killed_is_told_of_and_the_agent_writes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = SessionExporter(str(tmp_path / "runs"), helper_after=0)
    exporter.export(_agent_spans())
    helper = _child()
    os.kill(helper, 9)
    with caplog.at_level(logging.ERROR):
        while exporter.force_flush():  # what it had answered already, it has answered
            exporter.export(_agent_spans())
    exporter.export(_agent_spans())
    exporter.shutdown()

    assert "Session files are written by the agent itself from here on" in caplog.text
    written = [read_session(file.read_bytes()) for file in (tmp_path / "runs").glob("*/session.json")]
    assert len(written) == 1


def _agent_spans() -> list[ReadableSpan]:
    return [_ended({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"})]


def _child() -> int:
    """Return the one process of ours that writes sessions, as soon as the system shows what it runs."""
    wait_until(lambda: len(_children()) == 1)
    return _children()[0]


def _children() -> list[int]:
    """Return the processes of ours that write sessions, as the system lists them."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"session_helper" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def test_a_session_exporter_does_not_wait_for_ever_for_its_helper(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    exporter = SessionExporter(str(tmp_path / "runs"), helper_after=0, end_seconds=0.0)
    exporter.export(_agent_spans())
    helper = _child()
    with caplog.at_level(logging.WARNING):
        exporter.shutdown()

    assert "Session files are still being written by another process" in caplog.text
    wait_until(lambda: helper not in _children())  # it has ended, and is waited for: nothing is left behind
    assert len(list((tmp_path / "runs").glob("*/session.json"))) == 1


def test_a_helper_that_takes_longer_is_waited_for_when_nobody_holds_it(tmp_path: Path) -> None:
    helper = HelperProcess(WriterConfig(runs=str(tmp_path), redaction=None))
    number = _child()
    os.kill(number, signal.SIGSTOP)

    assert not helper.close(0)
    del helper
    gc.collect()  # a process that was not waited for would be warned of here, which pytest takes as an error
    os.kill(number, signal.SIGCONT)
    wait_until(lambda: not Path(f"/proc/{number}").exists())


def test_a_span_that_is_most_of_a_request_does_not_cost_its_neighbours(sink: Sink) -> None:
    sink.rule = lambda body: Answer(413) if len(body) > 20_000 else Answer()
    exporter = OTLPSpanExporter(sink.url, patience=QUICK)

    assert exporter.export([*ended_spans(2), *ended_spans(1, 100_000), *ended_spans(2)]) is SpanExportResult.SUCCESS
    assert len(sink.spans) == 5
    exporter.shutdown()


def test_grpc_over_tls_to_a_port_that_speaks_none_is_lost_in_time(sink: Sink) -> None:
    place = sink.url.removeprefix("http://").removesuffix("/v1/traces")
    settings = OtlpSettings(endpoint=f"https://{place}", protocol="grpc")
    unused = OTLPSpanExporter(settings=settings)
    unused.shutdown()
    exporter = OTLPSpanExporter(settings=settings, patience=Patience(timeout=2, retry_for=0.0))

    assert exporter.export(ended_spans(1)) is SpanExportResult.FAILURE
    exporter.shutdown()


def test_a_span_of_no_scope_is_written() -> None:
    context = trace.SpanContext(1, 2, is_remote=False, trace_flags=trace.TraceFlags(1))
    bare = ReadableSpan("bare", context)

    (read,) = decode_traces(request_of([OtlpEncoder(None).sdk_span(bare, ({},))])).spans

    assert (read.name, read.scope.name) == ("bare", "")


def test_scopes_by_the_thousand_do_not_make_agents() -> None:
    sink = MemorySink()
    provider = traced(sink, CritiqorSpanProcessor(run_id="run", end_open=False))
    for number in range(4_200):
        provider.get_tracer(f"library.{number}").start_span("work").end()
    provider.get_tracer("openinference.instrumentation.x").start_span("work").end()

    assert [span.attributes.get("critiqor.run_id") for span in sink.spans[-2:]] == [None, "run"]


def test_a_value_beyond_the_deepest_level_is_replaced_as_it_might_hold_a_secret() -> None:
    value: Any = {"password": "hunter2"}
    for _ in range(200):
        value = {"inner": value}

    assert "hunter2" not in str(Redaction().value(value))


def test_without_secrets_texts_stay_as_they_are() -> None:
    assert Redaction(secrets=False).scrub_for("session_id")("Bearer abcdefghijklmnop") == "Bearer abcdefghijklmnop"


def test_a_followed_file_that_lost_events_tells_nothing_new(tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    sent: list[Span] = []
    events = [
        Event(event_id=str(n), event="memory_event", event_type="memory_event", time_ns=n, payload={}) for n in range(3)
    ]
    looks = iter([events, events[:1], events])

    def wait() -> bool:
        now = next(looks, None)
        if now is not None:
            file.write_bytes(write_session(Session(run_id="run", events=tuple(now))))
        return now is not None

    def send(spans: Sequence[Span]) -> bool:
        sent.extend(spans)
        return True

    follow(file, send, wait)

    assert len({span.span_id for span in sent}) == len(sent)


def test_stamps_tell_of_calls_by_their_fingerprints_alone() -> None:
    stamps = Stamps(Fingerprints(b"key"), keep_content=False)
    bare = stamps.of(_ended(TOOL))
    whole = stamps.of(_ended({**TOOL, "gen_ai.tool.call.arguments": '{"a": 1}', "gen_ai.tool.call.result": "found"}))
    model = stamps.of(_ended({"gen_ai.operation.name": "chat", "gen_ai.output.messages": ANSWER}))
    unknown = stamps.of(_ended({"openinference.span.kind": "GUARDRAIL"}))

    assert set(bare) < set(whole)
    assert "found" not in str(whole)
    assert any("message.parts" in name for name in model)
    assert "critiqor.tool.result.fingerprint" not in unknown


ANSWER = '[{"role": "assistant", "parts": [{"type": "text", "content": "We are open from nine to five."}]}]'


def test_where_spans_are_not_recorded_the_recorder_records_all_the_same() -> None:
    provider = TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False)
    with monitor("What?", agent="helper", options=RecordingOptions(tracer_provider=provider)) as recorder:
        wrap_tool("search", lambda: b"\x00\x01")()
        recorder.finish("That.")
        recorder.finish("Again.")

    assert [event["event"] for event in recorder.trace][-1] == "agent_finish"
