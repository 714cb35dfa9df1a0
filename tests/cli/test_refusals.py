"""What is said where there is nothing to do, or not what was asked for; each with its exit code."""

import http.client
import json
import signal
import subprocess
from pathlib import Path

import pytest
from command import CLEAN, COMMAND, LOOP, Critiqor
from real_programs import free_ports
from spool_support import trace_request

from critiqor_otel.cli.observing import observed_environment
from critiqor_otel.cli.watching import check_watchable, watch

EMPTY = b'{"resourceSpans": []}'
FOREIGN = {
    "resourceSpans": [
        {
            "resource": {},
            "scopeSpans": [
                {
                    "scope": {"name": "my.agents"},
                    "spans": [
                        {"traceId": "ab" * 16, "spanId": "01" * 8, "name": "GET /", "kind": 2},
                    ],
                }
            ],
        }
    ]
}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("demo", "--jaeger", "no address"), "--jaeger takes the address of its page"),
        (("replay", "a", "b", "--follow"), "--follow takes one session file"),
        (("diagnose", "traces", "--format", "parquet", "--output", "t", "--write"), "a product in parts goes without"),
        (("diagnose", "traces", "--memory", "much"), "'much' is no size; write it as 512M or 2G"),
        (("diagnose", "traces", "--memory", "1M"), "1M is less than the"),
        (("serve", "--tls-cert", "cert.pem"), "--tls-cert and --tls-key go together"),
        (("serve", "--client-ca", "ca.pem"), "--client-ca needs --tls-cert and --tls-key"),
        (("show", "traces", "--only", "nobody"), "holds no run 'nobody'"),
        (("diagnose", "-", "--watch"), "is neither"),
        (("diagnose", "traces", "--config", "pyproject.toml"), "pyproject.toml has no table tool.critiqor"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    critiqor: Critiqor, folder: Path, words: tuple[str, ...], said: str
) -> None:
    (folder / "pyproject.toml").write_text("[project]\nname = 'agent'\n")
    done = critiqor(*words)

    assert (done.code, done.out) == (2, "")
    assert said in " ".join(done.err.split())


@pytest.mark.parametrize(
    "words",
    [("show", "empty.json"), ("replay", "empty.json"), ("compare", "empty.json", "traces")],
)
def test_where_there_is_no_run_the_exit_code_says_so(critiqor: Critiqor, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "empty.json").write_bytes(EMPTY)

    assert critiqor(*words).code == 3


def test_an_address_that_tells_too_little_is_named(critiqor: Critiqor) -> None:
    done = critiqor("diagnose", "github://a")

    assert done.code == 3
    assert done.err.startswith("Error: github://a: ")


def test_a_file_that_is_followed_and_holds_no_session_is_told(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "session.json").write_text("{")
    (tmp_path / "session.json").chmod(0o400)  # as when it is sealed

    done = critiqor("replay", "session.json", "--follow")

    assert done.code == 3
    assert "session.json held no session that could be read" in done.err


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"callable": "os:sep", "prompts": ["hello"]}, "os:sep is no callable but str"),
        ({"callable": "os:getcwd", "prompts": ["hello"], "repeat": 10**9}, "`repeat` is at most"),
    ],
)
def test_a_suite_that_cannot_be_run_says_why(
    critiqor: Critiqor, tmp_path: Path, settings: dict[str, object], said: str
) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(settings))

    done = critiqor("benchmark", "suite.json")

    assert done.code != 0
    assert said in done.err


def test_many_notes_are_told_by_the_first_and_their_number(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "dirty.jsonl").write_bytes(LOOP.read_bytes() + b"\n" + b"{no json\n" * 30)

    done = critiqor("diagnose", "dirty.jsonl", "--fail-on", "never")

    assert done.code == 0
    assert "more notes; --format json holds all" in done.err


def test_doctor_names_the_scopes_that_no_table_knows(critiqor: Critiqor, tmp_path: Path) -> None:
    mixed = json.loads(CLEAN.read_text().splitlines()[0])
    trace_id = mixed["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
    foreign = json.loads(json.dumps(FOREIGN).replace("ab" * 16, trace_id))
    lines = [CLEAN.read_text().rstrip("\n"), json.dumps(foreign)]
    (tmp_path / "mixed.jsonl").write_text("\n".join(lines) + "\n")

    assert "Spans that no table knows, by scope: my.agents (1)." in " ".join(
        critiqor("doctor", "mixed.jsonl").out.split()
    )


def test_serve_that_is_quiet_says_nothing(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    words = [COMMAND, "serve", "--quiet", "--grpc-port", "none", "--http-port", str(port)]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as serving:
        reached = False
        while not reached:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                connection.request(
                    "POST", "/v1/traces", trace_request(1, root=True), {"content-type": "application/x-protobuf"}
                )
                reached = connection.getresponse().status == 200
            except ConnectionRefusedError:
                assert serving.poll() is None
            finally:
                connection.close()
        serving.send_signal(signal.SIGTERM)
        said, _ = serving.communicate(timeout=60)

    assert (serving.returncode, said) == (0, b"")
    assert len(list(tmp_path.glob("runs/*/session.json"))) == 1


def test_serve_speaks_in_words_where_it_is_asked_to(tmp_path: Path) -> None:
    ports = free_ports(2)
    words = ["--log", "text"]
    command = [COMMAND, "serve", "--grpc-port", str(ports[0]), "--http-port", str(ports[1]), *words]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as serving:
        assert serving.stderr is not None
        first = serving.stderr.readline()
        serving.send_signal(signal.SIGINT)
        _, rest = serving.communicate(timeout=60)

    assert first.startswith("listening: grpc http://127.0.0.1:")
    assert rest.splitlines() == ["stopping: open_sessions 0", "stopped: sealed 0"]


def test_what_is_kept_beside_runs_is_not_watched(folder: Path) -> None:
    acts: list[int] = []

    def pause(_seconds: float) -> None:
        match len(acts):
            case 1 if not (folder / "traces" / "history.sqlite").exists():
                (folder / "traces" / "history.sqlite").write_bytes(b"ours")
                (folder / "traces" / "diagnosis.json").write_bytes(b"ours")
                (folder / "report.txt").write_bytes(b"ours")
            case 1:
                (folder / "traces" / "new.json").write_bytes(EMPTY)
            case _:
                raise KeyboardInterrupt

    paths = (str(folder / "traces"), str(folder / "report.txt"), str(folder / "missing"))
    check_watchable(paths)
    with pytest.raises(KeyboardInterrupt):
        watch(paths, lambda: acts.append(1), product=str(folder / "report.txt"), pause=pause)

    assert len(acts) == 2


def test_of_many_foreign_files_the_first_are_named(critiqor: Critiqor, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "loop.json").write_bytes(LOOP.read_bytes())
    for number in range(9):
        (folder / f"package{number}.json").write_text('{"name": "x", "version": [1]}')

    folded = critiqor("diagnose", "many", "--fail-on", "never").err
    told = critiqor("diagnose", "many", "--fail-on", "never", "--verbose").err

    for number in range(4, 9):
        (folder / f"package{number}.json").unlink()
    one_left = critiqor("diagnose", "many", "--fail-on", "never").err

    assert "… and 1 more file of no format" in one_left
    assert folded.count("package") == 3
    assert "… and 6 more files of no format that is known here; --verbose names all" in folded
    assert told.count("package") == 9


def test_verdicts_of_one_id_in_two_files_are_written_beside_neither(critiqor: Critiqor, folder: Path) -> None:
    assert critiqor("sessions", "traces/clean.otlp.jsonl", "--output", "runs").code == 0
    (made,) = (folder / "runs").glob("*/session.json")
    for name in ("a.session.json", "b.session.json"):
        (folder / name).write_bytes(made.read_bytes())

    done = critiqor("diagnose", "a.session.json", "b.session.json", "--write")

    assert "not written: 2 session files bear the run id" in done.err
    assert not list(folder.glob("*.diagnosis.json"))


@pytest.mark.usefixtures("folder")
def test_a_history_is_made_of_a_folder_alone(critiqor: Critiqor) -> None:
    done = critiqor("runs", "traces/clean.otlp.jsonl", "--rebuild")

    assert done.code == 3
    assert "is no folder of runs" in done.err


def test_an_observed_command_sends_here_whatever_its_user_set() -> None:
    given = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://elsewhere", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}

    told = observed_environment("http://here:1", content=False, given=given)

    assert told["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] == "http://here:1/v1/traces"
    assert told["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc"
    assert "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT" not in told
    assert not any("CAPTURE_MESSAGE_CONTENT" in name for name in told)
