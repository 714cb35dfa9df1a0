"""The parts a message is made of: text, requests for tools, responses of tools, in every vendor's spelling.

Read: OTel GenAI parts, OpenAI chat and Responses items, Anthropic, Bedrock (Strands) and Gemini blocks, LangChain and
Vercel parts.
"""

from collections.abc import Callable, Mapping
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.jsontext import structured
from critiqor_otel.conventions.messages import ToolRequest, ToolResponse
from critiqor_otel.conventions.shapes import REDACTED
from critiqor_otel.conventions.unwrap import content_blocks, only_key

__all__ = ["Parts", "Reader", "gather", "request_of", "response_of"]


class Parts:
    """What was found in a message so far."""

    __slots__ = ("requests", "responses", "texts")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.texts: list[str] = []
        self.requests: list[ToolRequest] = []
        self.responses: list[ToolResponse] = []


def gather(content: Any, parts: Parts) -> None:
    """Add what a message's content holds: text, a part, or a list of parts."""
    if isinstance(content, str):
        if content and content not in REDACTED:
            parts.texts.append(content)
        return
    for part in content if is_list(content) else (content,):
        if isinstance(part, str):
            gather(part, parts)
        elif is_object(part):
            _gather_part(part, parts)


def _gather_part(part: Mapping[str, Any], parts: Parts) -> None:
    kind = part.get("type")
    if isinstance(kind, str):
        reader = _BY_TYPE.get(kind)
        if reader is not None:
            reader(part, parts)
        return
    for key, reader in _WRAPPED.items():
        if is_object(part.get(key)):
            reader(part[key], parts)
            return
    for key, reader in _PLAIN.items():
        if part.get(key) is not None:
            reader(part, parts)
            return


def _text(part: Mapping[str, Any], parts: Parts) -> None:
    for key in ("text", "content"):
        found = part.get(key)
        if is_object(found):
            found = found.get("value")
        if isinstance(found, str):
            gather(found, parts)
            return


def _request(part: Mapping[str, Any], parts: Parts) -> None:
    if (found := request_of(part)) is not None:
        parts.requests.append(found)


def _response(part: Mapping[str, Any], parts: Parts) -> None:
    parts.responses.append(response_of(part))


Reader = Callable[[Mapping[str, Any], Parts], None]

_BY_TYPE: dict[str, Reader] = {
    "text": _text,
    "input_text": _text,
    "output_text": _text,
    "refusal": _text,
    "tool_call": _request,  # OTel GenAI, LangChain
    "function_call": _request,  # OpenAI Responses
    "custom_tool_call": _request,
    "function": _request,  # OpenAI chat, inside tool_calls
    "tool_use": _request,  # Anthropic
    "tool-call": _request,  # Vercel
    "tool_call_response": _response,  # OTel GenAI
    "function_call_output": _response,  # OpenAI Responses
    "custom_tool_call_output": _response,
    "tool_result": _response,  # Anthropic
    "tool-result": _response,  # Vercel
    "tool-error": _response,
}

_WRAPPED: dict[str, Reader] = {
    "toolUse": _request,  # Bedrock, Strands
    "toolResult": _response,
    "function_call": _request,  # Gemini, Python and JSON spellings
    "functionCall": _request,
    "function_response": _response,
    "functionResponse": _response,
    "toolRequest": _request,  # Genkit
    "toolResponse": _response,
    "tool_call": _request,  # Haystack
    "tool_call_result": _response,
}
_PLAIN: dict[str, Reader] = {
    "text": _text,
    "arguments": _request,  # AutoGen's FunctionCall, Pydantic AI under OpenInference
    "content": _text,
}

_REQUEST_IDS = ("call_id", "toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "id", "ref")
_RESPONSE_IDS = ("tool_call_id", "call_id", "tool_use_id", "toolUseId", "toolCallId", "id", "ref")
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_RESULTS = ("response", "result", "output", "content", "error")


def request_of(part: Mapping[str, Any]) -> ToolRequest | None:
    """Return the tool request that a part spells, or None when it names no tool."""
    function = part.get("function")
    inner: Mapping[str, Any] = function if is_object(function) else part
    name = _first_text(inner, _NAMES)
    if name is None:
        return None
    return ToolRequest(name=name, id=_first_text(part, _REQUEST_IDS), arguments=_arguments(_first(inner, _ARGUMENTS)))


def _arguments(value: Any) -> Any:
    found = structured(value)
    if is_list(found) and len(found) == 1 and is_object(found[0]) and set(found[0]) == {"content"}:
        found = found[0]["content"]  # Strands with the newest conventions
    return None if isinstance(found, str) and (not found or found in REDACTED) else found


def response_of(part: Mapping[str, Any]) -> ToolResponse:
    """Return the tool response that a part or a tool message spells."""
    result = _first(part, _RESULTS)
    failed = _failed(part)
    if is_object(result) and str(result.get("type")) in _VERCEL_OUTPUTS and "value" in result:
        failed = failed or str(result["type"]).startswith("error") or None
        result = result["value"]
    if "response" in part and "type" not in part:
        result = only_key("result", "output")(result)  # Gemini wraps what is no object
    result = content_blocks(result)
    asked = origin if is_object(origin := part.get("origin")) else part  # Haystack repeats the request
    return ToolResponse(
        id=_first_text(asked, _RESPONSE_IDS),
        name=_first_text(asked, _NAMES),
        result=None if isinstance(result, str) and result in REDACTED else result,
        is_error=failed,
    )


_VERCEL_OUTPUTS = frozenset({"text", "json", "content", "error-text", "error-json", "execution-denied"})


def _failed(part: Mapping[str, Any]) -> bool | None:
    for key in ("is_error", "isError", "error"):
        if isinstance(said := part.get(key), bool):
            return said
    if part.get("type") == "tool-error":
        return True
    return {"error": True, "success": False}.get(str(part.get("status")))


def _first(part: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None)


def _first_text(part: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    found = next((part[key] for key in keys if isinstance(part.get(key), str | int) and part[key] != ""), None)
    return None if found is None or isinstance(found, bool) else str(found)
