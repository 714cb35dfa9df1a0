"""What a tool received and what it gave back, without the wrapping each framework puts around it.

A wrapper is taken off only where all of an object's keys are the wrapper's own; an object with one key more is the
tool's payload. Which family wraps in which way is said by the family's table.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.reprs import literal_after
from critiqor_otel.conventions.shapes import json_value

__all__ = [
    "Unwrap",
    "call_keywords",
    "content_blocks",
    "graph_command",
    "langchain_input",
    "langchain_output",
    "mcp_result",
    "message_output",
    "only_key",
    "response_of_part",
    "through",
    "tool_message",
    "tool_message_field",
    "tool_message_fields",
    "tool_output",
    "typed_blocks",
]

Unwrap = Callable[[Any], Any]
"""Takes a decoded value, returns what was inside, or the very value where it is not so wrapped."""


def through(*steps: Unwrap) -> Callable[[Any], Any]:
    """Return the shape that decodes a value, takes off each wrapper in turn and decodes what was inside."""

    def read(value: Any) -> Any:
        found = json_value(value)
        for step in steps:
            within = step(found)
            if within is not found:
                found = json_value(within)
        return found

    return read


_CALL_KEYS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_KEYWORD_NAMES = ("kwargs", "kw", "kwds")


def call_keywords(value: Any) -> Any:
    """Take `{args, kwargs}` off, as decorators write a Python call: the keywords, or the one positional argument.

    smolagents adds `sanitize_inputs_outputs`; LlamaIndex writes `{kwargs}` alone; MLflow nests `**kw` under its name.
    """
    if not is_object(value) or not value:
        return value
    if not _CALL_KEYS.issuperset(value):
        return _lone_keywords(value)
    positional, keywords = value.get("args"), value.get("kwargs")
    if is_object(keywords) and keywords and not positional:
        return keywords
    if is_list(positional) and len(positional) == 1 and not keywords:
        return positional[0]
    return {} if not positional and not keywords and "args" in value else value


def _lone_keywords(value: Mapping[str, Any]) -> Any:
    if len(value) == 1:
        for name in _KEYWORD_NAMES:
            if is_object(value.get(name)):
                return value[name]
    return value


_LANGCHAIN_INPUT = frozenset({"input_str", "inputs", "tags", "metadata", "kwargs"})


def langchain_input(value: Any) -> Any:
    """Take OpenLLMetry's callback record `{input_str, tags, metadata, inputs, kwargs}` off.

    Its metadata differ on every call (step, checkpoint), so that equal calls would never look equal.
    """
    if not is_object(value) or "input_str" not in value or not _LANGCHAIN_INPUT.issuperset(value):
        return value
    inputs = value.get("inputs")
    return inputs if inputs is not None else value["input_str"]


def only_key(*keys: str) -> Unwrap:
    """Return the step that takes `{key: …}` off where that is the only key."""

    def take_off(value: Any) -> Any:
        if is_object(value) and len(value) == 1:
            for key in keys:
                if key in value:
                    return value[key]
        return value

    return take_off


def tool_message(value: Any) -> Any:
    """Take a serialised LangChain ToolMessage off, or its `str`: what the tool gave back is its content."""
    if _is_printed(value):
        content = literal_after(value, "content")
        return value if content is None else content
    fields = tool_message_fields(value)
    return value if fields is None else content_blocks(fields.get("content"))


_PRINTED_ID = " tool_call_id='"


def _is_printed(value: Any) -> TypeGuard[str]:
    """Tell whether this is the `str` of a ToolMessage: content first; name, id, tool_call_id and status last."""
    return isinstance(value, str) and value.startswith(("content='", 'content="')) and _PRINTED_ID in value


_MESSAGE_TYPES = ("tool", "constructor")


def tool_message_fields(value: Any) -> Mapping[str, Any] | None:
    """Return the fields of a serialised LangChain ToolMessage, or None when the value is none."""
    if not is_object(value) or value.get("type") not in _MESSAGE_TYPES:
        return None
    candidates: tuple[tuple[str, Any], ...] = (
        ("tool", value.get("data")),
        ("constructor", value.get("kwargs")),
        ("tool", value),
    )
    for kind, fields in candidates:
        if value.get("type") == kind and is_object(fields) and "tool_call_id" in fields:
            return fields
    return None


_MESSAGE_SIGN = "tool_call_id"  # stands in every spelling of a ToolMessage


def tool_message_field(key: str, *before: Unwrap) -> Callable[[Any], Any]:
    """Return the shape that reads one field of a ToolMessage; None where there is no message.

    Of one that was printed, a field from the call's id on.
    """

    def read(value: Any) -> Any:
        if isinstance(value, str) and _MESSAGE_SIGN not in value:
            return None
        value = structured(value)
        for step in before:
            value = structured(step(value))
        if _is_printed(value):
            return literal_after(value[value.rindex(_PRINTED_ID) :], key)
        fields = tool_message_fields(value)
        return None if fields is None else fields.get(key)

    return read


def langchain_output(value: Any) -> Any:
    """Take OpenLLMetry's callback record `{output, kwargs: {tags, color, name}}` off a tool's result."""
    if is_object(value) and "output" in value and {"output", "kwargs"}.issuperset(value):
        return value["output"]
    return value


def graph_command(value: Any) -> Any:
    """Take LangGraph's `Command(update={"messages": [one tool message]})` off a tool's result."""
    if not is_object(value) or not is_object(value.get("update")):
        return value
    messages = value["update"].get("messages")
    found = [message for message in messages if tool_message_fields(message)] if is_list(messages) else []
    return found[0] if len(found) == 1 else value


def message_output(value: Any) -> Any:
    """Take LangChain.js's `{output: …}` off a tool message, or off a command that holds one."""
    within = value["output"] if is_object(value) and len(value) == 1 and "output" in value else None
    is_message = tool_message_fields(within) is not None or graph_command(within) is not within
    return within if is_message else value


_BLOCK_KEYS = frozenset(
    {
        "type",
        "text",
        "annotations",
        "citations",
        "id",
        "index",
        "block_type",
        "cache_control",
        "meta",
        "_meta",
        "extras",
    }
)


def typed_blocks(value: Any) -> Any:
    """Take a list of content blocks off where each says that it is one: a tool may return a list of `{text}` itself."""
    value = structured(value)
    typed = is_list(value) and all(is_object(block) and "type" in block for block in value)
    return content_blocks(value) if typed else value


def mcp_result(value: Any) -> Any:
    """Take an MCP CallToolResult `{content, isError, structuredContent}` off, unless it says that the call failed."""
    if not is_object(value) or "content" not in value or not _MCP_RESULT.issuperset(value) or value.get("isError"):
        return value
    structured_content = value.get("structuredContent")
    return typed_blocks(value["content"]) if structured_content is None else structured_content


_MCP_RESULT = frozenset({"content", "isError", "structuredContent", "meta", "_meta"})


def content_blocks(value: Any) -> Any:
    """Take a list of content blocks off: the text of its blocks, or the one JSON value (Bedrock's `{json: …}`)."""
    value = structured(value)
    if not is_list(value) or not value:
        return value
    if len(value) == 1 and is_object(value[0]) and set(value[0]) == {"json"}:
        return value[0]["json"]
    texts = [block["text"] for block in value if _is_text_block(block)]
    return structured("\n".join(texts)) if len(texts) == len(value) else value


def _is_text_block(block: Any) -> bool:
    return (
        is_object(block)
        and isinstance(block.get("text"), str)
        and _BLOCK_KEYS.issuperset(block)
        and block.get("type", "text") == "text"
    )


def tool_output(value: Any) -> Any:
    """Take LlamaIndex's ToolOutput off: the raw output where it is JSON, else the text of its blocks."""
    if not is_object(value) or "tool_name" not in value or "raw_output" not in value:
        return value
    raw = value["raw_output"]
    if raw is not None and not value.get("is_error"):
        return raw
    return content_blocks(value["blocks"]) if "blocks" in value else value.get("content", raw)


_RESPONSE_PART = frozenset({"id", "name", "response", "will_continue", "scheduling", "parts"})


def response_of_part(value: Any) -> Any:
    """Take Gemini's function response part `{id, name, response}` off."""
    if is_object(value) and "response" in value and "name" in value and _RESPONSE_PART.issuperset(value):
        return value["response"]
    return value
