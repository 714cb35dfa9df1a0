"""What a verb loads: what starts the command fast is what is left out, and counting modules needs no clock."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import CAPTURES

TRACE = CAPTURES / "pydantic_ai" / "clean_two_tools.otlp.jsonl"
HEAVY = (
    *(
        "google.protobuf",
        "opentelemetry",
        "grpc",
        "rich",
        "dask",
        "distributed",
        "pyarrow",
        "yaml",
        "jinja2",
        "uvicorn",
    ),
    *("tomllib", "sqlite3", "asyncio", "concurrent.futures", "multiprocessing", "logging", "importlib.metadata"),
    *("importlib.resources", "statistics", "ssl", "http", "email", "pickle"),
)
LOADED = f"""
import sys
from critiqor_otel.cli.main import main
code = main()
loaded = [name for name in {HEAVY!r} if name in sys.modules]
loaded += [name for name in sys.modules if name.startswith("analyzer.evaluation")]
print(loaded, file=sys.stderr)
sys.exit(code)
"""


def loaded_by(folder: Path, *words: str) -> str:
    command = [sys.executable, "-c", LOADED, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stderr.strip()


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("diagnose", str(TRACE)),
        ("diagnose", str(TRACE), "--format", "json"),
        ("explain",),
        ("explain", "infinite_tool_loop"),
        ("show", str(TRACE)),
    ],
    ids=["help", "diagnose", "diagnose as JSON", "explain", "explain a type", "show"],
)
def test_a_verb_loads_nothing_heavy_that_it_does_not_need(words: tuple[str, ...], tmp_path: Path) -> None:
    assert loaded_by(tmp_path, *words).splitlines()[-1:] == ["[]"]


def test_the_settings_of_other_tools_are_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.ruff]\nline-length = 120\n[project]\nname = "critiqor-user"\n')

    assert loaded_by(tmp_path, "diagnose", str(TRACE)).splitlines()[-1:] == ["[]"]


@pytest.mark.parametrize(
    "text",
    [
        '[tool.critiqor]\noff = ["slow_tool"]\n',
        '[ tool . "critiqor" ]\noff = ["slow_tool"]\n',
        '[tool]\ncritiqor.off = ["slow_tool"]\n',
        'tool.critiqor.off = ["slow_tool"]\n',
        'tool = {critiqor = {off = ["slow_tool"]}}\n',
    ],
)
def test_settings_of_ours_are_found_however_the_table_is_spelled(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    assert "tomllib" in loaded_by(tmp_path, "diagnose", str(TRACE)).splitlines()[-1]


def test_a_small_run_compiles_a_few_of_the_analyzers_patterns(tmp_path: Path) -> None:
    script = f"""
import re, sys
seen = set()
compile_now = re.compile
def counted(source, flags=0):
    if sys._getframe(1).f_globals["__name__"] == "analyzer.pattern":
        seen.add(source)
    return compile_now(source, flags)
re.compile = counted
sys.argv = ["critiqor-otel", "diagnose", {str(TRACE)!r}, "--output", "verdict.txt"]
from critiqor_otel.cli.main import main
main()
print(len(seen))
"""

    told = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert 0 < int(told.stdout) <= 40
