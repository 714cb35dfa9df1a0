"""Tools that do nothing: a framework's way for the model to hand over its answer."""

__all__ = ["PSEUDO_TOOLS", "is_pseudo_tool"]

PSEUDO_TOOLS = frozenset({"final_answer", "final_result"})
"""smolagents' and Pydantic AI's names for the tool that carries the answer."""


def is_pseudo_tool(name: str) -> bool:
    """Tell whether a tool only carries the answer; Pydantic AI adds a type's name where there are several."""
    return name in PSEUDO_TOOLS or name.startswith("final_result_")
