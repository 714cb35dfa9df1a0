"""Puts faults into the detectors, one at a time, and lets the tests of detectors judge: which faults does none find?

`python tests/fuzz/mutants.py --count 200` tries a sample that follows from the seed; `--count 0` tries all. What a
mutant may be stands in `_changes`; texts are left alone, since what a detector says is pinned by the golden cases, and
its lists of words are data.
"""

import argparse
import ast
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import msgspec  # noqa: F401  # loaded once, before the judges part
import pytest

ROOT = Path(__file__).parents[2]
DETECTORS = ROOT / "analyzer" / "detectors"
_NO_RULES = frozenset(("__init__", "registry", "pages", "detector"))
_TESTS = ("tests/detectors", "tests/analyzer/test_recorded_cases.py", "tests/analyzer/test_deviations.py")
_OPTIONS = ("-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header")
_LONGEST = 300  # seconds a judge may take: a mutant that hangs is found


class Mutant(NamedTuple):
    """One fault."""

    module: str
    line: int
    before: str
    after: str
    place: int
    """Which node of the module, and below which of its changes."""
    change: int

    def tree(self) -> ast.Module:
        """Return the module with the fault in it."""
        whole = ast.parse((DETECTORS / f"{self.module}.py").read_text("utf-8"))
        node = next(one for place, one in enumerate(ast.walk(whole)) if place == self.place)
        _put(whole, node, _changes(node)[self.change])
        return whole


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a module."""
    whole = ast.parse(path.read_text("utf-8"))
    aside = {id(inner) for outer in _asides(whole) for inner in ast.walk(outer)}
    for place, node in enumerate(ast.walk(whole)):
        if id(node) in aside:
            continue
        for change, changed in enumerate(_changes(node)):
            yield Mutant(path.stem, getattr(node, "lineno", 0), ast.unparse(node), ast.unparse(changed), place, change)


def _changes(node: ast.AST) -> list[ast.AST]:
    """Return what may be made of a node."""
    make = _MADE.get(type(node))
    return [] if make is None else make(node)


def _of_comparison(node: Any) -> list[ast.AST]:
    others = _COMPARISONS[type(node.ops[0])] if len(node.ops) == 1 else ()
    return [ast.Compare(node.left, [other()], node.comparators) for other in others]


def _of_sum(node: Any) -> list[ast.AST]:
    other = _SUMS.get(type(node.op))
    return [] if other is None else [ast.BinOp(node.left, other(), node.right)]


def _of_constant(node: Any) -> list[ast.AST]:
    if isinstance(node.value, bool):
        return [ast.Constant(not node.value)]
    return [ast.Constant(node.value + 1)] if isinstance(node.value, int | float) else []


_MADE: dict[type[ast.AST], Callable[[Any], list[ast.AST]]] = {
    ast.Compare: _of_comparison,
    ast.BinOp: _of_sum,
    ast.Constant: _of_constant,
    ast.BoolOp: lambda node: [ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)],
    ast.UnaryOp: lambda node: [node.operand] if isinstance(node.op, ast.Not) else [],
    ast.Continue: lambda _: [ast.Break()],
    ast.IfExp: lambda node: [node.body, node.orelse],
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE,),
    ast.LtE: (ast.Lt,),
    ast.Gt: (ast.GtE,),
    ast.GtE: (ast.Gt,),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_SUMS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


def _asides(whole: ast.Module) -> Iterator[ast.AST]:
    """Yield what is no rule: types, decorators, what a class is told."""
    for node in ast.walk(whole):
        match node:
            case ast.FunctionDef():
                yield from node.decorator_list
                if node.returns is not None:
                    yield node.returns
            case ast.ClassDef():
                yield from (*node.decorator_list, *node.keywords)
            case ast.arg(annotation=ast.AST() as annotation) | ast.AnnAssign(annotation=annotation):
                yield annotation


def _put(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if one is old else one for one in value]
    ast.fix_missing_locations(tree)


class _Finder(MetaPathFinder):
    """Finds the mutant where the module is looked for."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != f"analyzer.detectors.{self._mutant.module}":
            return None
        file = str(DETECTORS / f"{self._mutant.module}.py")
        return spec_from_file_location(fullname, file, loader=_Loader(fullname, file, self._mutant.tree()))


class _Loader(SourceFileLoader):
    def __init__(self, fullname: str, path: str, tree: ast.Module) -> None:
        super().__init__(fullname, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return compile(self._tree, self.path, "exec")


def found(mutant: Mutant | None) -> bool:
    """Return whether a test fails with the mutant; None is the code as it is."""
    child = os.fork()
    if child == 0:
        _judge(mutant)
    _, status = os.waitpid(child, 0)
    return status != 0


def _judge(mutant: Mutant | None) -> None:
    """Be the tests; never comes back."""
    code = 1
    try:
        signal.alarm(_LONGEST)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        if mutant is not None:
            sys.meta_path.insert(0, _Finder(mutant))
        code = int(_misses_a_case()) or pytest.main([*_OPTIONS, *(f"--deselect={name}" for name in _SLOW), *_TESTS])
    finally:
        os._exit(int(code))


def _misses_a_case() -> bool:
    """Return whether a detector finds another thing in one of its own cases: the quick look before all the tests."""
    from analyzer.detectors.registry import ALL  # noqa: PLC0415  # with the mutant in it
    from analyzer.diagnosis import diagnose  # noqa: PLC0415  # as above
    from analyzer.session.codec import read_session  # noqa: PLC0415  # as above

    detectors = {detector.failure_type: detector for detector in ALL}
    for path in sorted((ROOT / "tests" / "detectors").rglob("*.session.json")):
        detector = detectors[path.parent.name]
        causes = diagnose(read_session(path.read_bytes()), detectors=(detector,)).to_dict()["failure_causes"]
        expected = path.with_name(path.name.replace(".session.", ".expected.")).read_text("utf-8")
        if json.loads(json.dumps(causes)) != json.loads(expected):
            return True
    return False


_SLOW = ("tests/detectors/test_pages.py",)  # of the pages, which no rule changes


def main() -> int:
    """Print the mutants that no test finds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="all when none is named")
    parser.add_argument("--count", type=int, default=200, help="mutants to try; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.chdir(ROOT)
    paths = [path for path in sorted(DETECTORS.glob("*.py")) if path.stem not in _NO_RULES]
    everything = [one for path in paths if path.stem in (options.modules or {path.stem}) for one in mutants_of(path)]
    chosen = everything
    if 0 < options.count < len(everything):
        chosen = random.Random(options.seed).sample(everything, options.count)
    if found(None):
        _say("the tests fail without any mutant")
        return 1
    survived = Counter[str]()
    for number, mutant in enumerate(chosen, 1):
        if not found(mutant):
            survived[mutant.module] += 1
            _say(f"| {mutant.module} | {mutant.line} | `{mutant.before}` | `{mutant.after}` |")
        if number % 20 == 0:
            _say(f"… {number} of {len(chosen)} tried, {survived.total()} survived")
    _say(f"{len(everything)} mutants, {len(chosen)} tried, {survived.total()} survived")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
