"""One shape for the messages between agent and model, whatever way they were written down."""

from typing import Any

from msgspec import Struct

__all__ = ["Message", "ToolRequest", "ToolResponse"]


class ToolRequest(Struct, frozen=True, kw_only=True):
    """A model asks for a tool."""

    name: str
    id: str | None = None
    arguments: Any = None
    """The decoded JSON value, or the text as it came; None when content was not captured."""


class ToolResponse(Struct, frozen=True, kw_only=True):
    """What a tool gave back, as the next request tells the model."""

    id: str | None = None
    name: str | None = None
    result: Any = None
    """Unwrapped; None when content was not captured."""
    is_error: bool | None = None
    """What the message itself says of it; None when it says nothing."""


class Message(Struct, frozen=True, kw_only=True):
    """One message of a conversation."""

    role: str
    """system, user, assistant or tool (a `human`, `ai` or `model` is translated)."""
    text: str | None = None
    tool_requests: tuple[ToolRequest, ...] = ()
    tool_responses: tuple[ToolResponse, ...] = ()
    finish_reason: str | None = None
