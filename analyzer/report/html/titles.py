"""Names that programs use, as people read them."""

from collections.abc import Mapping

__all__ = ["FACTS", "title_of"]

FACTS: Mapping[str, str] = {
    "tokens": "token usage of model calls",
    "model_calls": "model calls",
    "tool_calls": "tool calls",
    "tool_arguments": "what tools were called with",
    "tool_results": "what tools gave back",
    "tool_errors": "whether tools failed",
    "messages": "what was said to models and by them",
}
"""A fact that traces may carry or not, in words."""


def title_of(name: str) -> str:
    """Return `infinite_tool_loop` as `Infinite tool loop`."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
