"""How the code is laid out: what every module must have, and what importing the light parts may load."""

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from analyzer.detectors.registry import ALL

ROOT = Path(__file__).parents[2]
PACKAGES = ("analyzer", "critiqor_otel")
MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMED = [path for path in MODULES if path.name != "__init__.py"]
DETECTORS = [Path("analyzer/detectors") / f"{detector.failure_type}.py" for detector in ALL]
LONGEST = 300


def imported(path: Path) -> ModuleType:
    parts = path.with_suffix("").parts
    return importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_is_short_enough_to_read(path: Path) -> None:
    assert len((ROOT / path).read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_says_what_question_it_answers(path: Path) -> None:
    docstring = imported(path).__doc__ or ""

    assert len(docstring.strip().splitlines()[0].split()) > 2


@pytest.mark.parametrize("path", DETECTORS, ids=str)
def test_a_detector_offers_itself_alone(path: Path) -> None:
    assert imported(path).__all__ == ["DETECTOR"]


@pytest.mark.parametrize("path", [path for path in NAMED if path not in DETECTORS], ids=str)
def test_all_is_what_a_module_really_offers(path: Path) -> None:
    module = imported(path)
    tree = ast.parse((ROOT / path).read_text())

    assert public_names(tree) - set(module.__all__) == set()
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def public_names(tree: ast.Module) -> set[str]:
    """Return the names that a module defines at its top, without those that begin with an underscore."""
    found: set[str] = set()
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
                pass
            case ast.Assign(targets=targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case _:
                pass
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_no_module_is_a_drawer_of_odds_and_ends(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "common", "base", "manager", "misc"}


@pytest.mark.parametrize(
    "module", ["critiqor_otel", "critiqor_otel.span", "critiqor_otel.cli.main", "analyzer.session.codec"]
)
def test_importing_the_light_parts_loads_nothing_heavy(module: str) -> None:
    heavy = ("grpc", "analyzer.detectors", "google.protobuf", "rich", "critiqor_otel.formats")
    script = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"


def test_what_lives_in_the_agents_process_loads_neither_grpc_nor_detectors() -> None:
    paths = [path for path in NAMED if path.parent.name == "emit" or path == Path("critiqor_otel/decode/sdk.py")]
    names = [".".join(path.with_suffix("").parts) for path in paths]
    imports = ", ".join(["sys", "critiqor_otel", *names])
    script = f"import {imports}; print('grpc' in sys.modules, 'analyzer.detectors' in sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.split() == ["False", "False"]


def test_the_floors_hold() -> None:
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert linted.returncode == 0, linted.stdout


def test_every_dependency_has_its_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    project = tomllib.loads("\n".join(lines))
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]

    bare = [name for name in named if not any(f'"{name}",' in line and "# " in line for line in lines)]

    assert bare == []


def test_no_file_tells_where_it_was_written() -> None:
    folders = (*PACKAGES, "bench", "docs", "tests", ".ci", ".changelog")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [path for path in ROOT.iterdir() if path.is_file()]

    telling = [path for path in files if path.suffix != ".pyc" and f"{ROOT}/".encode() in path.read_bytes()]

    assert telling == []
