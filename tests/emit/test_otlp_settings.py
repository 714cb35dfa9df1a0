"""The OTLP exporter's environment: what each variable sets, and what an odd value comes to."""

import logging
import ssl

import pytest

from critiqor_otel.emit.otlp_settings import OtlpSettings, host_of, settings_from_environment, tls_context


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for middle in ("", "TRACES_"):
        for name in ("ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "COMPRESSION", "INSECURE", "CERTIFICATE"):
            monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{middle}{name}", raising=False)


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> OtlpSettings:
    for name, value in variables.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    return settings_from_environment()


@pytest.mark.parametrize(
    ("variables", "endpoint"),
    [
        ({}, "http://localhost:4318/v1/traces"),
        ({"ENDPOINT": "http://a:1/"}, "http://a:1/v1/traces"),
        ({"ENDPOINT": "http://a:1", "TRACES_ENDPOINT": "http://b:2/x"}, "http://b:2/x"),
        ({"PROTOCOL": "grpc"}, "http://localhost:4317"),
        ({"PROTOCOL": "grpc", "ENDPOINT": "http://a:1"}, "http://a:1"),
        ({"TRACES_PROTOCOL": "grpc", "PROTOCOL": "http/protobuf"}, "http://localhost:4317"),
    ],
)
def test_the_endpoint_follows_from_the_protocol_and_what_is_named(
    variables: dict[str, str], endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settings(monkeypatch, **variables).endpoint == endpoint


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("COMPRESSION", "gzip", "compression", "gzip"),
        ("COMPRESSION", " Deflate ", "compression", "deflate"),
        ("TIMEOUT", "2.5", "timeout", 2.5),
        ("INSECURE", "TRUE", "insecure", True),
        ("HEADERS", "A=1,b%20c=d%3D", "headers", {"a": "1", "b c": "d="}),
        ("HEADERS", "a=1,,", "headers", {"a": "1"}),
    ],
)
def test_a_variable_sets_its_field(
    name: str,
    value: str,
    field: str,
    expected: object,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert getattr(settings(monkeypatch, **{name: value}), field) == expected
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("PROTOCOL", "http/json", "protocol"),
        ("COMPRESSION", "zstd", "compression"),
        ("TIMEOUT", "soon", "timeout"),
        ("TIMEOUT", "-1", "timeout"),
        ("TIMEOUT", "nan", "timeout"),
        ("HEADERS", "secret", "headers"),
        ("HEADERS", "=secret", "headers"),
    ],
)
def test_an_odd_value_is_told_of_and_changes_nothing(
    name: str, value: str, field: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = settings(monkeypatch, **{name: value})

    assert getattr(found, field) == getattr(OtlpSettings(endpoint=""), field)
    assert name in caplog.text
    assert "secret" not in caplog.text


def test_a_certificate_that_cannot_be_read_is_an_error_of_the_system() -> None:
    assert isinstance(tls_context(OtlpSettings(endpoint="")), ssl.SSLContext)
    with pytest.raises(OSError, match="No such file"):
        tls_context(OtlpSettings(endpoint="", client_certificate_file="nowhere.pem"))


@pytest.mark.parametrize("endpoint", ["https://user:secret@host:1/path?token=secret", "user:secret@host:1"])
def test_an_endpoint_is_named_without_its_secrets(endpoint: str) -> None:
    assert host_of(endpoint) == "host:1"
