"""The starts that the documentation shows, run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.diagnosis import diagnose
from analyzer.session.codec import read_session
from analyzer.session.model import Session

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "instrument.md"
OWN_SET_UP = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
provider = TracerProvider()
trace.set_tracer_provider(provider)
"""
AGENT = """
from opentelemetry import trace
tracer = trace.get_tracer("agent")
with tracer.start_as_current_span("invoke_agent helper", attributes={"gen_ai.operation.name": "invoke_agent"}):
    span = tracer.start_span("execute_tool search", attributes={"gen_ai.operation.name": "execute_tool"})
    span.end()
"""


def block(heading: str, language: str) -> str:
    section = DOCS.read_text().split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def run(folder: Path, *command: str, **env: str) -> str:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "CRITIQOR_"))}
    done = subprocess.run(
        command, cwd=folder, env={**bare, **env}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def written(folder: Path) -> list[Session]:
    return [read_session(path.read_bytes()) for path in sorted(folder.glob("runs/*/session.json"))]


def test_a_start_without_opentelemetry(tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-c", block("You have no OpenTelemetry yet", "python"))

    (session,) = written(tmp_path)
    assert session.agent.name == "helper"
    assert "infinite_tool_loop" in [cause.type for cause in diagnose(session).failure_causes]


def test_a_start_beside_opentelemetry(tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-c", block("You have OpenTelemetry", "python"))

    (session,) = written(tmp_path)
    assert [event.event for event in session.events] == [
        *("state_transition", "tool_call", "tool_output", "state_transition"),
    ]


def test_the_two_lines_of_the_readme(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)

    run(tmp_path, sys.executable, "-c", OWN_SET_UP + lines + AGENT)

    (session,) = written(tmp_path)
    assert [event.event for event in session.events][1] == "tool_call"


def test_a_start_without_touching_the_code(tmp_path: Path) -> None:
    instrument = Path(sys.executable).with_name("opentelemetry-instrument")
    if not instrument.exists():
        pytest.skip("opentelemetry-instrument is not installed: it comes with opentelemetry-distro")
    command = block("Without touching the code", "console").splitlines()[-1].removeprefix("$ ")
    setting, *words = command.split()
    (tmp_path / "agent.py").write_text(AGENT)
    assert words == ["opentelemetry-instrument", "python", "agent.py"]

    name, value = setting.split("=")
    run(tmp_path, str(instrument), sys.executable, "agent.py", **{name: value})

    (session,) = written(tmp_path)
    assert session.run_id == session.trace_ids[0]
    assert [event.event for event in session.events].count("tool_call") == 1
    assert session.events[0].payload["otel"]["attributes"]["critiqor.run_id"] == session.run_id


def test_the_hook_leaves_other_set_ups_alone(tmp_path: Path) -> None:
    instrument = Path(sys.executable).with_name("opentelemetry-instrument")
    if not instrument.exists():
        pytest.skip("opentelemetry-instrument is not installed: it comes with opentelemetry-distro")
    script = f"{AGENT}\nprint([one for one in span.attributes if one.startswith('critiqor')], span.attributes)"
    (tmp_path / "agent.py").write_text(script)

    bare = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    done = subprocess.run(
        [instrument, sys.executable, "agent.py"],
        cwd=tmp_path,
        env={**bare, "OTEL_TRACES_EXPORTER": "console"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout.startswith("[]") or "\n[] " in done.stdout
