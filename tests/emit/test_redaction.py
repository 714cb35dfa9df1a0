"""What must not leave the process does not, wherever it stands; what is harmless stays."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_secrets import SECRETS
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link, SpanContext, Status, StatusCode
from otlp_sink import Sink

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions
from critiqor_otel.emit.redaction import Redaction
from critiqor_otel.emit.secret_shapes import is_secret_key, redacted_text
from critiqor_otel.emit.session_exporter import SessionExporter
from critiqor_otel.emit.stamping_exporter import StampingExporter
from critiqor_otel.testing import MemorySink

PLACES = 10
CAPTURES = Path(__file__).parents[1] / "cases" / "captures"


def agent_that_leaks(provider: TracerProvider, secret: str) -> None:
    """Put one secret into ten places of a trace."""
    tracer = provider.get_tracer("agent")
    link = Link(SpanContext(1, 2, is_remote=True), {"note": f"see {secret} there"})
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "call",
        "gen_ai.tool.call.arguments": json.dumps({"headers": {"Authorization": f"Bearer {secret}"}}),  # 1: JSON text
        "gen_ai.tool.call.result": f"the key is {secret}, keep it",  # 2: text
        "url.full": f"https://user:{secret}@host/path?api_key={secret}",  # 3: a URL
        "request": {"api_key": secret, "plain": [secret]},  # 4: an object
    }
    with tracer.start_as_current_span(f"call {secret}", attributes=attributes, links=[link]) as span:  # 5, 6
        span.add_event("exception", {"exception.message": f"ValueError: bad token {secret}"})  # 7
        span.add_event(f"sent {secret}")  # 8
        span.set_status(Status(StatusCode.ERROR, f"failed with {secret}"))  # 9
    options = RecordingOptions(tracer_provider=provider, capture_content=True)
    with monitor("hello", options=options) as recorder:
        recorder.record_tool_output("call", {"nested": [f"token={secret}"]}, error=f"no: {secret}")  # 10: evidence


def leaky_provider(exporter: object, secret: str) -> TracerProvider:
    provider = TracerProvider(resource=Resource({"service.name": "agent", "deployment": f"key {secret}"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))  # type: ignore[arg-type]
    return provider


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink().running() as running:
        yield running


@pytest.mark.parametrize(
    "secret", [secret for _, secret in SECRETS], ids=[f"{kind} {place}" for place, (kind, _) in enumerate(SECRETS)]
)
def test_no_secret_leaves_by_any_exporter(secret: str, sink: Sink, tmp_path: Path) -> None:
    memory = MemorySink()
    exporters = [StampingExporter(memory), OTLPSpanExporter(endpoint=sink.url), SessionExporter(tmp_path / "runs")]
    for exporter in exporters:
        provider = leaky_provider(exporter, secret)
        agent_that_leaks(provider, secret)
        provider.shutdown()

    files = "".join(path.read_text() for path in (tmp_path / "runs").rglob("session.json"))
    told = "".join(map(str, memory.spans)) + "".join(map(str, sink.spans)) + files
    sink.taken.clear()
    assert len(files) > 1000
    parts = [part for part in secret.splitlines() if not part.startswith("-----")]
    assert [part for part in parts if part in told or json.dumps(part)[1:-1] in told] == []


def test_there_are_sixty_of_fifteen_kinds() -> None:
    assert len(SECRETS) == 60
    assert len({kind for kind, _ in SECRETS}) == 15


@pytest.mark.parametrize(
    "text",
    [
        "password: hunter2",
        "PASSWORD=hunter2",
        'password = "correct horse hunter2"',
        "{'db_password': 'hunter2'}",
        '{"config": "{\\"password\\": \\"hunter2\\"}"}',
        "https://host/path?token=hunter2&page=2",
        "postgresql://admin:hunter2@db/app",
        "Authorization: Basic hunter2hunter2",
        "Cookie: session=hunter2; theme=dark",
        "x-api-key: hunter2",
        "my password is hunter2",
        "curl -H 'Authorization: Bearer hunter2hunter2' https://host",
        "DefaultEndpointsProtocol=https;AccountKey=hunter2==;EndpointSuffix=core",
    ],
)
def test_a_secret_that_a_word_tells_of_is_found(text: str) -> None:
    assert "hunter2" not in redacted_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=400, prompt_tokens: 120",
        "550e8400-e29b-41d4-a716-446655440000",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "call_a8B7c6D5e4F3g2H1i0J9k8L7",
        "gpt-4o-mini-2024-07-18-preview",
        "/usr/lib/python3.11/site-packages/opentelemetry",
        "execute_tool search_knowledge_base_v2_final",
        "1780000000000000000",
        "The secretary has the keys to the office.",
        "2026-11-30T19:28:00.000000Z",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted_text(text) == text


def test_captured_traces_lose_nothing() -> None:
    """What real frameworks wrote, in runs that hold no secret, goes out as it is."""
    redaction = Redaction()
    changed: set[str] = set()
    for path in sorted(CAPTURES.glob("*/*.otlp.pb")):
        if ".logs." not in path.name:
            for span in decode_traces(path.read_bytes()).spans:
                changed |= {key for key, value in span.attributes.items() if redaction.attribute(key, value) != value}

    assert changed == set()


@pytest.mark.parametrize("key", ["api_key", "apiKey", "X-API-Key", "dbPassword", "AWS_SECRET_ACCESS_KEY", "auth_token"])
def test_keys_of_secrets(key: str) -> None:
    assert is_secret_key(key)


@pytest.mark.parametrize("key", ["max_tokens", "gen_ai.usage.input_tokens", "key", "monkey", "token_count", "author"])
def test_keys_of_other_things(key: str) -> None:
    assert not is_secret_key(key)


def test_a_user_can_allow_deny_and_cut() -> None:
    redaction = Redaction(allow=("app.public.*",), deny=("app.customer.*",), max_text=10)

    assert redaction.attributes(
        {"app.public.password": "shown", "app.customer.name": "Ada", "text": "0123456789abc"}
    ) == {
        "app.public.password": "shown",
        "app.customer.name": "[REDACTED]",
        "text": "0123456789… [cut: 10 of 13 characters]",
    }


def test_depth_and_odd_values_are_no_way_around() -> None:
    deep: object = {"password": "hunter2"}
    for _ in range(300):
        deep = [deep]

    assert "hunter2" not in repr(Redaction().value(deep))
    assert Redaction().value(b"token=hunter2abc") == b"token=[REDACTED]"
    assert Redaction().value({"password": 1234}) == {"password": "[REDACTED]"}
    assert Redaction().value({"token": 1234}) == {"token": 1234}


@pytest.mark.parametrize("text", ["a" * 200_000, "password" * 25_000, "x-" * 100_000, "eyJ" * 60_000, "a.b" * 60_000])
def test_no_text_takes_long(text: str) -> None:
    assert len(redacted_text(text)) > 0
