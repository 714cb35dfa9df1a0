"""What observing an agent loads into its process: no gRPC, no detectors, nothing of the command."""

import subprocess
import sys
from pathlib import Path

AGENT = """
import pkgutil, sys
from importlib import import_module
import critiqor_otel.emit
import critiqor_otel.decode.sdk
for module in pkgutil.iter_modules(critiqor_otel.emit.__path__):
    if module.name != "session_helper":  # a process of its own
        import_module(f"critiqor_otel.emit.{module.name}")
import critiqor_otel
critiqor_otel.configure("agent", endpoint="http://127.0.0.1:9/v1/traces")
with critiqor_otel.monitor("hello") as recorder:
    recorder.wrap_tool("add", lambda a: a + 1)(1)
    recorder.finish("done")
heavy = ("grpc", "analyzer.detectors", "analyzer.diagnosis", "google.protobuf", "click", "rich", "uvicorn")
print([name for name in heavy if name in sys.modules])
import os; os._exit(0)
"""


def test_an_observed_agent_loads_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-u", "-c", AGENT], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stdout.strip() == "[]", done.stderr
