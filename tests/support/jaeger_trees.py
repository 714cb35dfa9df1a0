"""A trace as Jaeger shows it: each span below the one it belongs to, by its start, a line a span."""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["lines_of", "tags_of"]


def tags_of(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tags of a span of Jaeger's API."""
    return {tag["key"]: tag["value"] for tag in span["tags"]}


def lines_of(trace: Mapping[str, Any]) -> list[str]:
    """Return the names of a trace's spans, indented; `!` marks an error."""
    return list(_below(trace["spans"], None, 0))


def _below(spans: list[dict[str, Any]], parent: str | None, depth: int) -> Iterator[str]:
    below = [span for span in spans if _parent(span) == parent]
    for span in sorted(below, key=lambda span: (span["startTime"], -span["duration"], span["operationName"])):
        mark = "  !" if tags_of(span).get("error") is True else ""
        yield f"{'  ' * depth}{span['operationName']}{mark}"
        yield from _below(spans, span["spanID"], depth + 1)


def _parent(span: Mapping[str, Any]) -> str | None:
    return next((one["spanID"] for one in span["references"] if one["refType"] == "CHILD_OF"), None)
