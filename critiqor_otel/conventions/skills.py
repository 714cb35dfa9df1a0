"""Skills: reusable instructions that an agent loads by calling a tool made for it."""

from collections.abc import Callable
from typing import Any

from analyzer.session.shapes import is_object
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.span import Span

__all__ = ["SKILL_TOOLS", "skill_of_call"]

SKILL_TOOLS = frozenset(
    {"load_skill", "load_skill_resource", "run_skill_script", "skills", "Skill", "skill", "get_skill_instructions"}
)
"""The tools by which frameworks load skills: Google ADK, Strands, Claude Code, Agno."""

_ARGUMENTS = ("skill_name", "skill", "name", "skill_id", "command")


def skill_of_call(name_key: str, arguments_key: str) -> Callable[[Span], str | None]:
    """Return the shape that reads a skill's name out of the arguments of the tool call that loads it."""

    def read(span: Span) -> str | None:
        if str(span.attributes.get(name_key)) not in SKILL_TOOLS:
            return None
        arguments: Any = structured(span.attributes.get(arguments_key))
        if not is_object(arguments):
            return None
        return next((arguments[key] for key in _ARGUMENTS if isinstance(arguments.get(key), str)), None)

    return read
