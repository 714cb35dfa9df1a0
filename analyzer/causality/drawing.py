"""A causal graph in the forms that other programs draw: JSON, Graphviz DOT, Mermaid, GraphML."""

from collections.abc import Callable, Iterator, Mapping
from html import escape

from analyzer.causality.graph import Edge, RunGraph
from analyzer.cause import Confidence
from analyzer.pattern import pattern
from analyzer.session.jsontext import strict_json

__all__ = ["DRAWINGS", "draw"]

_LONGEST = 120
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
_DOT_STYLES = {Confidence.HIGH: "solid", Confidence.MEDIUM: "dashed", Confidence.LOW: "dotted"}
_MERMAID_ARROWS = {Confidence.HIGH: "-->", Confidence.MEDIUM: "-.->", Confidence.LOW: "-.->"}
_MERMAID_ODD = pattern(r"[^\w \-.,:()/]")
_GRAPHML_KEYS = (("node", "type"), ("node", "kind"), ("node", "label"))
_GRAPHML_EDGE_KEYS = (("edge", "relation"), ("edge", "rule"), ("edge", "confidence"))


def draw(graph: RunGraph, form: str) -> str:
    """Return the graph in a form, one of `DRAWINGS`.

    Raises:
        KeyError: there is no such form.
    """
    return "".join(f"{line}\n" for line in DRAWINGS[form](graph))


def _json(graph: RunGraph) -> Iterator[str]:
    document = {
        "nodes": [{"id": node.id, "type": node.type, "kind": node.kind, "label": node.label} for node in graph.nodes],
        "edges": [{"id": f"e{number}", **_fields(edge)} for number, edge in enumerate(graph.edges)],
    }
    yield strict_json(document).decode()


def _fields(edge: Edge) -> dict[str, str]:
    return {
        "from": edge.source,
        "to": edge.target,
        "relation": edge.relation,
        "rule": edge.rule,
        "confidence": edge.confidence.value,
    }


def _dot(graph: RunGraph) -> Iterator[str]:
    yield "digraph run {"
    yield '  rankdir=LR; node [shape=box, fontname="sans-serif"]; edge [fontname="sans-serif"];'
    for node in graph.nodes:
        shape = ", shape=octagon, color=red" if node.kind == "failure" else ""
        yield f"  {_quoted(node.id)} [label={_quoted(_label(node.label, node.type))}{shape}];"
    for edge in graph.edges:
        label = f"label={_quoted(edge.relation)}, style={_DOT_STYLES[edge.confidence]}"
        yield f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [{label}];"
    yield "}"


def _mermaid(graph: RunGraph) -> Iterator[str]:
    names = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    yield "flowchart LR"
    for node in graph.nodes:
        label = _MERMAID_ODD.sub(lambda odd: f"#{ord(odd[0])};", _label(node.label, node.type))
        shape = ("{{", "}}") if node.kind == "failure" else ("[", "]")
        yield f'  {names[node.id]}{shape[0]}"{label}"{shape[1]}'
    for edge in graph.edges:
        if edge.source in names and edge.target in names:
            arrow = _MERMAID_ARROWS[edge.confidence]
            yield f"  {names[edge.source]} {arrow}|{edge.relation}| {names[edge.target]}"


def _graphml(graph: RunGraph) -> Iterator[str]:
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415  # loads what talks HTTP, and few want this drawing

    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for kind, name in (*_GRAPHML_KEYS, *_GRAPHML_EDGE_KEYS):
        yield f'  <key id="{name}" for="{kind}" attr.name="{name}" attr.type="string"/>'
    yield '  <graph id="run" edgedefault="directed">'
    for node in graph.nodes:
        facts = {"type": node.type, "kind": node.kind, "label": node.label}
        yield f"    <node id={quoteattr(_plain(node.id))}>{_data(facts)}</node>"
    for number, edge in enumerate(graph.edges):
        ends = f"source={quoteattr(_plain(edge.source))} target={quoteattr(_plain(edge.target))}"
        facts = {name: value for name, value in _fields(edge).items() if name not in ("from", "to")}
        yield f'    <edge id="e{number}" {ends}>{_data(facts)}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(facts: Mapping[str, str]) -> str:
    return "".join(f'<data key="{name}">{escape(_plain(value), quote=False)}</data>' for name, value in facts.items())


def _label(label: str, kind: str) -> str:
    text = label if kind in (label, "failure") else f"{label} ({kind})"
    plain = _plain(text)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _plain(text: str) -> str:
    """Return a text without what no drawing can hold: control signs, line ends, halves of characters."""
    return _CONTROL.sub(" ", text)


def _quoted(text: str) -> str:
    escaped = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


DRAWINGS: Mapping[str, Callable[[RunGraph], Iterator[str]]] = {
    "json": _json,
    "dot": _dot,
    "mermaid": _mermaid,
    "graphml": _graphml,
}
"""The forms, by name, each in lines."""
