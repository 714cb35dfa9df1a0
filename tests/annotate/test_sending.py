"""Verdicts on their way: by the verb, and while a receiver runs."""

import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from command import LOOP, run_command
from otlp_sink import Answer, Sink
from real_programs import Serving, wait_until

from critiqor_otel.decode.otlp_json import decode_traces
from critiqor_otel.span import Span

QUICK = ("--after-root", "0.1", "--idle", "0.2")


def send(server: Serving, body: bytes, kind: str = "application/json") -> None:
    request = Request(f"http://127.0.0.1:{server.ports[1]}/v1/traces", body, {"content-type": kind})  # our own
    with urlopen(request, timeout=20) as answer:  # noqa: S310  # our own
        assert answer.status == 200


def names(spans: list[Span]) -> list[str]:
    return sorted(span.name for span in spans)


def test_the_verb_sends_the_verdict_and_says_so(tmp_path: Path) -> None:
    with Sink().running() as sink:
        done = run_command(tmp_path, "annotate", LOOP, "--endpoint", sink.url)

    assert done.code == 0
    assert names(sink.spans) == ["critiqor.diagnosis", "critiqor.failure infinite_tool_loop"]
    assert "the verdicts on 1 run were sent to 127.0.0.1" in done.err


def test_an_endpoint_without_a_path_is_that_of_otlp(tmp_path: Path) -> None:
    with Sink().running() as sink:
        done = run_command(tmp_path, "annotate", LOOP, "--endpoint", sink.url.removesuffix("/v1/traces"))

    assert done.code == 0
    assert sink.paths == ["/v1/traces"]


def test_what_is_refused_is_told(tmp_path: Path) -> None:
    with Sink(rule=lambda _: Answer(400, b"no")).running() as sink:
        done = run_command(tmp_path, "annotate", LOOP, "--endpoint", sink.url)

    assert done.code == 2
    assert "2 of 2 spans were not taken by 127.0.0.1" in done.err


@pytest.mark.parametrize("endpoint", ["ftp://host/x", "http://host:99999"])
def test_an_endpoint_that_is_none_is_told(tmp_path: Path, endpoint: str) -> None:
    done = run_command(tmp_path, "annotate", LOOP, "--endpoint", endpoint)

    assert done.code == 2
    assert "is no address" in done.err


def test_an_input_without_an_agent_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("{}")

    assert run_command(tmp_path, "annotate", "empty.json").code == 3


def test_serve_sends_each_verdict_as_it_seals_and_takes_none_back(tmp_path: Path) -> None:
    with Sink().running() as sink:
        server = Serving(tmp_path / "runs", "--annotate", sink.url, *QUICK)
        for line in LOOP.read_bytes().splitlines():
            send(server, line)
        wait_until(lambda: sink.taken)
        for body in sink.taken:  # as a Collector hands them on to everybody, us too
            send(server, body, "application/x-protobuf")
        server.settle()

    spans = [span for line in LOOP.read_bytes().splitlines() for span in decode_traces(line).spans]
    assert names(sink.spans) == ["critiqor.diagnosis", "critiqor.failure infinite_tool_loop"]
    assert {span.trace_id for span in sink.spans} == {span.trace_id for span in spans}
    (folder,) = (tmp_path / "runs").glob("*/session.json")  # no continuation
    verdict = json.loads((folder.parent / "diagnosis.json").read_bytes())
    assert verdict["readiness_level"] == "unsafe_for_production"


def test_a_receiver_goes_on_when_nobody_takes_its_verdicts(tmp_path: Path) -> None:
    with Sink(rule=lambda _: Answer(400, b"no")).running() as sink:
        server = Serving(tmp_path / "runs", "--annotate", sink.url)
        for line in LOOP.read_bytes().splitlines():
            send(server, line)
        server.settle()

    assert len(list((tmp_path / "runs").glob("*/session.json"))) == 1
    assert [line for line in server.lines if '"not-annotated"' in line]
