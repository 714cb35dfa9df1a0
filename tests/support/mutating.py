"""What may go wrong in a rule: the mutants of a module, each one fault, and how a process takes one on.

What a mutant may be stands in `_MADE`; texts are left alone, since what a detector says is pinned by the golden cases,
and its lists of words are data.
"""

import ast
import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from msgspec.structs import force_setattr

__all__ = ["DETECTORS", "PACKAGE", "Mutant", "everything", "mutants_of", "take_on"]

PACKAGE = "analyzer.detectors"
DETECTORS = Path(__file__).parents[2] / "analyzer" / "detectors"
_NO_RULES = frozenset(("__init__", "registry", "pages", "detector"))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault."""

    module: str
    function: str
    """The function with the fault, with its class; empty at the top of the module."""
    before: str
    after: str
    number: int
    """Which of those that are spelt alike in one function, from 1."""
    lines: range
    """Lines of the statement: whoever reaches none of them can't tell the mutant from the rule."""
    place: int
    """Which node of the module, and below which of its changes."""
    change: int
    """Below 0: none, the module as it is."""

    @property
    def key(self) -> str:
        """Return what names the mutant as long as its function is left alone, wherever its lines move."""
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module}.{self.function or 'top'}: {self.before} → {self.after}{number}"

    def tree(self) -> ast.Module:
        """Return the module with the fault in it."""
        whole = ast.parse((DETECTORS / f"{self.module}.py").read_text("utf-8"))
        if self.change < 0:
            return whole
        node = next(one for place, one in enumerate(ast.walk(whole)) if place == self.place)
        _put(whole, node, _changes(node)[self.change])
        return whole


def everything() -> list[Mutant]:
    """Return the mutants of all detectors."""
    paths = sorted(path for path in DETECTORS.glob("*.py") if path.stem not in _NO_RULES)
    return [mutant for path in paths for mutant in mutants_of(path)]


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a module."""
    whole = ast.parse(path.read_text("utf-8"))
    aside = {id(inner) for outer in _asides(whole) for inner in ast.walk(outer)}
    homes = dict(_homes(whole, "", range(0)))
    alike = Counter[tuple[str, str, str]]()
    for place, node in enumerate(ast.walk(whole)):
        if id(node) in aside:
            continue
        for change, changed in enumerate(_changes(node)):
            function, lines = homes[id(node)]
            spelt = (function, ast.unparse(node), ast.unparse(changed))
            alike[spelt] += 1
            yield Mutant(path.stem, *spelt, alike[spelt], lines, place, change)


def _homes(node: ast.AST, function: str, lines: range) -> Iterator[tuple[int, tuple[str, range]]]:
    """Yield for every node below in which function it is, and the lines of its statement without what it holds."""
    for one in ast.iter_child_nodes(node):
        name, at = function, lines
        if isinstance(one, ast.stmt):
            body = getattr(one, "body", None)
            end = max(body[0].lineno, one.lineno + 1) if body else (one.end_lineno or one.lineno) + 1
            at = range(one.lineno, end)
        if isinstance(one, ast.FunctionDef | ast.ClassDef):
            name = f"{function}.{one.name}".removeprefix(".")
        yield id(one), (name, at)
        yield from _homes(one, name, at)


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


_MADE: Mapping[type[ast.AST], Callable[[Any], list[ast.AST]]] = {
    ast.Compare: _of_comparison,
    ast.BinOp: _of_sum,
    ast.Constant: _of_constant,
    ast.BoolOp: lambda node: [ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)],
    ast.UnaryOp: lambda node: [node.operand] if isinstance(node.op, ast.Not) else [],
    ast.Continue: lambda _: [ast.Break()],
    ast.IfExp: lambda node: [node.body, node.orelse],
}
_COMPARISONS: Mapping[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
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
_SUMS: Mapping[type[ast.operator], type[ast.operator]] = {
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
            case _:
                pass


def _put(tree: ast.Module, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list):
                value[:] = [new if one is old else one for one in value]
    ast.fix_missing_locations(tree)


def take_on(mutant: Mutant) -> None:
    """Make the detectors of this process those with the fault; there is no way back.

    A detector is looked at by many (the registry, the tests), so the new one is put into the old one.
    """
    names = [f"{PACKAGE}.{name}" for name in _changed_by(mutant.module)]
    old = {name: sys.modules.pop(name) for name in names}
    sys.meta_path.insert(0, _Finder(mutant))
    for name in names:
        detector: Any = vars(old[name]).get("DETECTOR")
        fresh = vars(importlib.import_module(name)).get("DETECTOR")
        for field in () if detector is None else detector.__struct_fields__:
            force_setattr(detector, field, getattr(fresh, field))


def _changed_by(module: str) -> list[str]:
    """Return the module, and the detectors that are built from it."""
    paths = sorted(path for path in DETECTORS.glob("*.py") if path.stem not in _NO_RULES | {module})
    return [module, *(path.stem for path in paths if f"from {PACKAGE}.{module} import" in path.read_text("utf-8"))]


class _Finder(MetaPathFinder):
    """Finds the mutant where the module is looked for."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != f"{PACKAGE}.{self._mutant.module}":
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
