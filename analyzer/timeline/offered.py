"""Which tools was a model offered, and how does it have to call them? From requests and agents that tell of tools."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from analyzer.pattern import pattern
from analyzer.session.accessors import payload_of
from analyzer.session.model import Event, Json
from analyzer.session.shapes import is_list, is_object

__all__ = ["Offered", "Tool", "offered_in"]

# `server__tool`, `functions.tool`, `server/tool`, `mcp:tool`: the part behind names the tool.
_PREFIX = pattern(r".*(?:__|[./:])(?=.)", re.DOTALL)


class Tool(Struct, frozen=True):
    """A tool as it was declared to a model."""

    name: str
    description: str | None
    parameters: dict[str, Any] | None
    """The JSON schema of its arguments; None when the trace does not carry it."""


class Offered(Struct, frozen=True):
    """The tools that the requests and agents of a run tell of."""

    tools: Mapping[str, Tool]
    """By name; the last declaration counts."""
    plain_names: frozenset[str]
    clashes: frozenset[str]
    """Names under which different schemas were declared."""
    agents: frozenset[str | None]
    """The agents that tell of tools."""

    @property
    def known(self) -> bool:
        """Whether the run tells of offered tools at all."""
        return bool(self.tools)

    def known_for(self, agent: str | None) -> bool:
        """Return whether the run tells of the tools of an agent, or of those of one that it does not name."""
        return self.known and (agent is None or agent in self.agents or None in self.agents)

    def has(self, name: str) -> bool:
        """Return whether a tool was offered, prefixes and spelling aside."""
        return name in self.tools or not self.plain_names.isdisjoint(_plain_names(name))

    def parameters(self, name: str | None) -> dict[str, Any] | None:
        """Return the one schema of a tool's arguments, None when it is not known."""
        tool = None if name is None or name in self.clashes else self.tools.get(name)
        return None if tool is None else tool.parameters

    def description(self, name: str) -> str | None:
        """Return what a tool is said to do, None when nobody says."""
        tool = self.tools.get(name)
        return None if tool is None else tool.description


def offered_in(events: Iterable[Event]) -> Offered:
    """Return the tools that events tell of; linear in the events and the declarations."""
    tools: dict[str, Tool] = {}
    clashes: set[str] = set()
    agents: set[str | None] = set()
    for event in events:
        payload = payload_of(event)
        for tool in _tools(payload.get("tools")):
            agent = payload.get("agent")
            agents.add(agent if isinstance(agent, str) else None)
            known = tools.get(tool.name)
            if known is not None and known.parameters != tool.parameters:
                clashes.add(tool.name)
            tools[tool.name] = tool
    plain_names = frozenset(plain for name in tools for plain in _plain_names(name))
    return Offered(tools, plain_names, frozenset(clashes), frozenset(agents))


def _tools(declared: Json) -> Iterator[Tool]:
    for item in declared if is_list(declared) else ():
        inner = item.get("function") if is_object(item) else None
        tool = inner if is_object(inner) else item
        name = tool.get("name") if is_object(tool) else tool
        if not isinstance(name, str) or not name:
            continue
        if not is_object(tool):
            yield Tool(name, None, None)
            continue
        description, parameters = tool.get("description"), tool.get("parameters", tool.get("input_schema"))
        yield Tool(
            name,
            description if isinstance(description, str) else None,
            _schema(parameters),
        )


def _schema(parameters: Json) -> dict[str, Any] | None:
    """Return the schema; Bedrock puts it into an object with the one member `json`."""
    inner = parameters.get("json") if is_object(parameters) and len(parameters) == 1 else None
    found = inner if is_object(inner) else parameters
    return found if is_object(found) else None


def _plain_names(name: str) -> tuple[str, ...]:
    return _plain(name), _plain(_PREFIX.sub("", name))


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")
