"""The verbs `serve`, `run` and `finalize`, as a user starts them."""

import json
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import pytest
from command import COMMAND, run_command
from spool_support import trace_request

from analyzer.session.codec import read_session
from analyzer.session.model import Session
from critiqor_otel.testing import embedded_receiver

AGENT = (sys.executable, "-m", "critiqor_otel.cli.demo_agent")
GRPC_AGENT = """
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource({"service.name": "own"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("own")
with tracer.start_as_current_span("invoke_agent own", attributes={"gen_ai.operation.name": "invoke_agent"}):
    pass
provider.shutdown()
"""


class Server(NamedTuple):
    process: subprocess.Popen[str]
    places: dict[str, Any]

    def send(self, body: bytes, **headers: str) -> int:
        request = Request(  # noqa: S310  # our own server
            f"{self.places['http']}/v1/traces", body, {"Content-Type": "application/x-protobuf", **headers}
        )
        with urlopen(request, timeout=20) as answer:  # noqa: S310  # our own server
            return int(answer.status)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, list[dict[str, Any]]]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, [json.loads(line) for line in err.splitlines()]


@contextmanager
def serving(runs: Path, *options: str) -> Iterator[Server]:
    words = [COMMAND, "serve", "--runs", runs, "--grpc-port", "0", "--http-port", "0", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert json.loads(line)["event"] == "listening", line
        yield Server(process, json.loads(line))
    finally:
        process.kill()
        process.communicate()


def only_session(runs: Path) -> Session:
    (file,) = runs.glob("*/session.json")
    return read_session(file.read_bytes())


def types_of(session: Session) -> list[str]:
    return [event.event_type for event in session.events]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("where", ["process", "thread"])
def test_serve_seals_and_diagnoses_what_is_open_when_it_is_stopped(tmp_path: Path, number: int, where: str) -> None:
    with serving(tmp_path, "--diagnose", "--sessions-in", where) as server:
        assert server.send(trace_request(1, 2, root=True, agent=True, critiqor__run_id="mine")) == 200
        code, out, told = server.stop(number)

    assert code == 0
    assert out.startswith("mine ")
    assert [line["event"] for line in told] == ["stopping", "stopped"]
    assert told[-1]["sealed"] == 1
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == [
        "diagnosis.json",
        "receipt.json",
        "session.json",
    ]
    assert list((tmp_path / ".spool" / "journal").iterdir()) == []


def test_serve_tells_each_run_as_it_seals(tmp_path: Path) -> None:
    with serving(tmp_path, "--after-root", "0.1") as server:
        server.send(trace_request(1, 2, root=True, agent=True, critiqor__run_id="mine"))
        assert server.process.stdout is not None
        assert server.process.stdout.readline() == f"{tmp_path / 'mine'} 2 spans root_ended_idle\n"


def test_serve_reads_the_token_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRITIQOR_TOKEN", "secret")
    with serving(tmp_path) as server:
        with pytest.raises(OSError, match="401"):
            server.send(b"")
        assert server.send(b"", Authorization="Bearer secret") == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--host", "0.0.0.0"), "set a token or client certificates"),  # noqa: S104  # what is refused
        (("--tls-cert", "x.pem"), "go together"),
        (("--client-ca", "x.pem"), "needs --tls-cert"),
        (("--grpc-port", "none", "--http-port", "none"), "neither gRPC nor HTTP"),
        (("--http-port", "70000"), "is no port"),
        (("--token-file", "not-there"), "cannot be read"),
    ],
)
def test_serve_refuses_what_cannot_be_served(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    outcome = run_command(tmp_path, "serve", *options)

    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_run_makes_a_session_and_a_verdict_of_an_agent(tmp_path: Path) -> None:
    outcome = run_command(tmp_path, "run", "--", *AGENT)

    assert "sent no span" not in outcome.err

    session = only_session(tmp_path / "runs")
    assert outcome.code == 0
    assert outcome.out == "I could not find our opening hours on public holidays.\n"
    assert "infinite_tool_loop (high)" in outcome.err
    assert types_of(session).count("tool_call") == 4
    assert {"process_start", "process_output", "process_end"} <= set(types_of(session))
    assert session.agent.name == "support"
    assert (tmp_path / "runs" / session.run_id / "diagnosis.json").exists()


def test_run_fails_on_a_severity_only_when_asked_to(tmp_path: Path) -> None:
    assert run_command(tmp_path, "run", "--fail-on", "high", "--", *AGENT).code == 1
    assert run_command(tmp_path, "run", "--fail-on", "critical", "--", *AGENT).code == 0


def test_run_hears_a_program_that_names_its_exporter_and_resource_itself(tmp_path: Path) -> None:
    outcome = run_command(tmp_path, "run", "--run-id", "mine", "--", sys.executable, "-c", GRPC_AGENT)

    session = only_session(tmp_path / "runs")
    assert outcome.code == 0
    assert session.run_id == "mine"
    assert types_of(session).count("agent_start") == 2


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((sys.executable, "-c", "raise RuntimeError('crashed')"), 1),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -9 $$"), 137),
        (("no-such-command",), 127),
        (("true",), 0),
    ],
    ids=["crash", "exit", "signal", "missing", "fine"],
)
def test_run_passes_the_exit_code_on_and_seals_a_command_without_telemetry(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    outcome = run_command(tmp_path, "run", "--", *words)

    session = only_session(tmp_path / "runs")
    assert outcome.code == code
    assert "process_end" in types_of(session)
    assert session.run_id in outcome.err
    assert "the command sent no span of an agent" in outcome.err


def test_a_run_of_an_id_that_was_run_before_is_judged_with_its_first_part(tmp_path: Path) -> None:
    again = ("run", "--run-id", "mine", "--", sys.executable, "-m", "critiqor_otel.cli.demo_agent")
    first, second = run_command(tmp_path, *again), run_command(tmp_path, *again)

    assert "called 4 times" in first.err
    assert "called 8 times" in second.err


def test_run_observes_its_command_where_another_receiver_writes_too(tmp_path: Path) -> None:
    with embedded_receiver(tmp_path / "runs"):
        done = run_command(tmp_path, "run", "--run-id", "second", "--", "sh", "-c", "exit 4")
        again = run_command(tmp_path, "run", "--run-id", "second", "--", "true")

    assert (done.code, again.code) == (4, 0)
    session = read_session((tmp_path / "runs" / "second" / "session.json").read_bytes())
    rest = read_session((tmp_path / "runs" / "second~2" / "session.json").read_bytes())
    assert (session.run_id, rest.continues) == ("second", "second")
    assert list((tmp_path / "runs" / ".spool" / "beside").iterdir()) == []


@pytest.mark.parametrize(
    ("script", "said"), [("kill -9 $$", "the command was ended by SIGKILL"), ("exit 3", "failed with exit code 3")]
)
def test_run_says_how_a_command_ended(tmp_path: Path, script: str, said: str) -> None:
    assert said in run_command(tmp_path, "run", "--", "sh", "-c", script).err


def test_run_ends_a_command_that_takes_too_long(tmp_path: Path) -> None:
    outcome = run_command(tmp_path, "run", "--timeout", "0.5", "--", "sleep", "60")

    assert outcome.code == 124
    assert "process_end" in types_of(only_session(tmp_path / "runs"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_run_seals_the_session_when_it_is_stopped_itself(tmp_path: Path, number: int, code: int) -> None:
    words = [COMMAND, "run", "--", "sh", "-c", "echo begun; sleep 60"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=60)

    assert process.returncode == code
    assert "holds the session and its diagnosis" in err
    assert "process_output" in types_of(only_session(tmp_path / "runs"))


def test_run_puts_the_run_and_its_trace_into_the_environment(tmp_path: Path) -> None:
    script = "import os, json; print(json.dumps({k: v for k, v in os.environ.items()}))"
    outcome = run_command(tmp_path, "run", "--run-id", "mine", "--", sys.executable, "-c", script)

    told = json.loads(outcome.out)
    assert told["CRITIQOR_RUN_ID"] == "mine"
    assert told["TRACEPARENT"].split("-")[1] in only_session(tmp_path / "runs").trace_ids
    assert told["OTEL_EXPORTER_OTLP_ENDPOINT"].startswith("http://127.0.0.1:")
    assert "critiqor.run_id=mine" in told["OTEL_RESOURCE_ATTRIBUTES"]


def plugin_session(folder: Path) -> Path:
    file = folder / "runs" / "run_001" / "session.json"
    file.parent.mkdir(parents=True)
    calls = [
        {
            "event": "tool_call",
            "timestamp": f"2026-01-01T00:00:0{n}.000Z",
            "payload": {"toolName": "search", "input": {}},
        }
        for n in range(4)
    ]
    document = {"schema_version": "critiqor.session.v1", "run_id": "run_001", "session_id": "run_001", "events": calls}
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize("given", ["run_001", "runs/run_001", "runs/run_001/session.json"])
def test_finalize_seals_a_session_untouched_and_diagnoses_it(tmp_path: Path, given: str) -> None:
    file = plugin_session(tmp_path)
    before = file.read_bytes()

    outcome = run_command(tmp_path, "finalize", given)

    assert outcome.code == 1  # four equal calls
    assert "infinite_tool_loop" in outcome.out
    assert file.read_bytes() == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o444
    assert json.loads((file.parent / "receipt.json").read_bytes())["close_reason"] == "finalized"
    assert json.loads((file.parent / "diagnosis.json").read_bytes())["run_id"] == "run_001"
    assert json.loads((tmp_path / "runs" / "run_001.json").read_bytes())["status"] == "COMPLETED"


def test_finalize_again_changes_nothing(tmp_path: Path) -> None:
    plugin_session(tmp_path)
    run_command(tmp_path, "finalize", "run_001")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}

    outcome = run_command(tmp_path, "finalize", "run_001", "--fail-on", "never")

    assert outcome.code == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


def test_finalize_refuses_a_session_that_was_changed_since(tmp_path: Path) -> None:
    file = plugin_session(tmp_path)
    run_command(tmp_path, "finalize", "run_001")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().replace(b"search", b"other!"))

    outcome = run_command(tmp_path, "finalize", "run_001")

    assert outcome.code == 3
    assert "changed since it was sealed" in outcome.err


def test_finalize_keeps_loose_sessions_of_one_folder_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        event = '{"event": "decision", "event_id": "e"}'
        text = f'{{"schema_version": "critiqor.session.v1", "run_id": "{name}", "events": [{event}]}}'
        (tmp_path / f"{name}.session.json").write_text(text)

    done = run_command(tmp_path, "finalize", "a.session.json", "b.session.json")

    assert done.code == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".json") == [
        *("a.diagnosis.json", "a.receipt.json", "a.session.json"),
        *("b.diagnosis.json", "b.receipt.json", "b.session.json"),
    ]
    assert not list(tmp_path.parent.glob(f"{tmp_path.name}*.json"))


def test_finalize_names_what_is_not_there(tmp_path: Path) -> None:
    outcome = run_command(tmp_path, "finalize", "run_404")

    assert outcome.code == 2
    assert "run_404" in outcome.err
    assert list(tmp_path.iterdir()) == []


NODE_AGENT = """
const { NodeSDK } = require("@opentelemetry/sdk-node");
const { trace } = require("@opentelemetry/api");
const sdk = new NodeSDK();
sdk.start();
const attributes = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "js" };
trace.getTracer("js").startActiveSpan("invoke_agent js", { attributes }, (span) => span.end());
sdk.shutdown();
"""


def node_is_equipped() -> bool:
    node = shutil.which("node")
    return (
        node is not None
        and not subprocess.run(
            [node, "-e", 'require("@opentelemetry/sdk-node")'], capture_output=True, check=False
        ).returncode
    )


@pytest.mark.skipif(not node_is_equipped(), reason="needs node, and @opentelemetry/sdk-node on NODE_PATH")
@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_run_hears_an_agent_in_javascript(tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    (tmp_path / "agent.js").write_text(NODE_AGENT)

    outcome = run_command(tmp_path, "run", "--", "node", "agent.js")

    assert outcome.code == 0
    assert only_session(tmp_path / "runs").agent.name == "js"


def test_serve_shows_the_runs_to_a_browser_and_judges_them(tmp_path: Path) -> None:
    with serving(tmp_path / "runs", "--ui") as server:
        with urlopen(server.places["ui"], timeout=20) as answer:  # noqa: S310  # our own server
            page = answer.read()
        server.send(trace_request(1, 2, root=True, agent=True))
        server.stop()

    assert b'data-live="api/runs"' in page
    assert list((tmp_path / "runs").glob("*/diagnosis.json"))
