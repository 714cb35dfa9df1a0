"""Messages between agent and model, whatever way they were written down, as `Message`s.

`conversation` reads what a model was sent, `answer` what it gave back; both take JSON text, decoded values, a request
or response body, and text that an attribute limit cut: the whole messages before the cut are kept, with a note.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from analyzer.session.shapes import is_list, is_object
from critiqor_otel.conventions.convention import BadValueError, Salvaged
from critiqor_otel.conventions.jsontext import looks_cut, salvaged, structured
from critiqor_otel.conventions.message_parts import Parts, gather, request_of, response_of
from critiqor_otel.conventions.messages import Message
from critiqor_otel.conventions.shapes import REDACTED

__all__ = ["ROLES", "answer", "conversation", "message_of", "messages_of"]

ROLES = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "function": "tool",
    "developer": "system",
    "humanmessage": "user",
    "aimessage": "assistant",
    "systemmessage": "system",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "chat": "user",
}
"""Roles by other names: LangChain's message types and classes, Gemini, OpenAI."""

_REQUEST_LISTS = ("messages", "input", "contents", "inputs", "prompt", "prompts")
_REQUEST_SYSTEM = ("system", "instructions", "system_instruction", "systemInstruction")
_RESPONSE_LISTS = (
    *("choices", "generations", "candidates", "output", "outputs", "message", "messages", "update", "content"),
)


def conversation(value: Any) -> list[Message] | Salvaged | None:
    """Return the messages of a request, system instructions first; None when there are none.

    Raises:
        BadValueError: the value is JSON cut before its first message ends, or no messages at all.
    """
    return _read(value, "user", _REQUEST_LISTS)


def answer(value: Any) -> list[Message] | Salvaged | None:
    """Return the messages of a response; None when there are none.

    Raises:
        BadValueError: as `conversation`.
    """
    return _read(value, "assistant", _RESPONSE_LISTS)


def _read(value: Any, role: str, lists: tuple[str, ...]) -> list[Message] | Salvaged | None:
    found = structured(value)
    if isinstance(found, str):
        if not found.strip() or found in REDACTED:
            return None
        if looks_cut(found):
            return _salvage(found, role, lists)
    elif not (is_list(found) or is_object(found)):
        raise BadValueError(f"a {type(found).__name__} is no message")
    return list(messages_of(found, role=role, lists=lists)) or None


def _salvage(text: str, role: str, lists: tuple[str, ...]) -> Salvaged:
    for key in (None, *lists):
        if items := salvaged(text, key=key):
            kept = list(messages_of(items, role=role, lists=lists))
            return Salvaged(
                kept, f"JSON text was cut after {len(text)} characters; {len(kept)} whole messages were kept"
            )
    raise BadValueError(f"JSON text was cut after {len(text)} characters, before its first message ended")


def messages_of(value: Any, *, role: str, lists: Iterable[str] = _REQUEST_LISTS) -> Iterator[Message]:
    """Yield the messages in a decoded value; text alone is a message of the given role."""
    items = [(value, 0)]
    while items:
        item, depth = items.pop()
        if is_list(item):
            if depth < _DEEPEST:
                items.extend((inner, depth + 1) for inner in reversed(item))
            continue
        body = _body(item, lists) if is_object(item) and depth < _DEEPEST else None
        if body is not None:
            items.extend((inner, depth + 1) for inner in reversed(body))
            continue
        message = message_of(item, role=role)
        if message is not None:
            yield message


_DEEPEST = 6  # lists in lists in bodies: LangChain writes {"messages": [[…]]}, a response {"choices": [{"message": …}]}


def _body(item: Mapping[str, Any], lists: Iterable[str]) -> list[Any] | None:
    """Return the messages inside a request or response body, or None when the object is a message itself."""
    if _is_message(item):
        return None
    names = _REQUEST_SYSTEM if lists is _REQUEST_LISTS else ()
    for key in lists:
        inner = item.get(key)
        if isinstance(inner, str):
            inner = structured(inner)
        if (is_list(inner) or is_object(inner)) or (isinstance(inner, str) and key in ("prompt", "input")):
            system = [{"role": "system", "content": item[name]} for name in names if item.get(name)]
            return [*system, _with_reason(inner, item)]
    return None


def _is_message(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("role"), str) or "parts" in item or str(item.get("type")) in _MESSAGE_TYPES


_MESSAGE_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "constructor", "message", "function_call", "function_call_output"}
    | {"AIMessageChunk", "tool_call", "tool-call", "tool_use", "tool_result", "tool_call_response", "custom_tool_call"}
)


def _with_reason(inner: Any, outer: Mapping[str, Any]) -> Any:
    """Hand a choice's finish reason down to its message."""
    reason = outer.get("finish_reason") or outer.get("finishReason")
    if reason is None and is_object(outer.get("generation_info")):
        reason = outer["generation_info"].get("finish_reason")
    if reason is None or not is_object(inner):
        return inner
    return {"finish_reason": reason, **inner}


def message_of(item: Any, *, role: str) -> Message | None:
    """Return the message an item spells, or None when it holds nothing; `role` is for items that name none."""
    if isinstance(item, str):
        return Message(role=role, text=item) if item and item not in REDACTED else None
    if not is_object(item):
        return None
    fields = _fields(item)
    spoken = _role(fields, role)
    parts = Parts()
    _gather_calls(fields, parts)
    if spoken == "tool":
        _gather_tool_answer(fields, parts)
    else:
        _gather_content(fields, parts)
    if parts.responses and not parts.texts and not parts.requests:
        spoken = "tool"
    return _made(fields, spoken, parts)


def _made(fields: Mapping[str, Any], role: str, parts: Parts) -> Message | None:
    """Return the message; what has neither parts nor a role of its own is none."""
    if not (parts.texts or parts.requests or parts.responses or "role" in fields):
        return None
    reason = fields.get("finish_reason") or fields.get("stop_reason")
    return Message(
        role=role,
        text="\n".join(parts.texts) or None,
        tool_requests=tuple(parts.requests),
        tool_responses=tuple(parts.responses),
        finish_reason=reason if isinstance(reason, str) else None,
    )


def _fields(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message's fields, out of LangChain's `{lc, id: […, class], kwargs}` and `{type, data}`."""
    kwargs = item.get("kwargs")
    if item.get("type") == "constructor" and is_object(kwargs):
        path = item.get("id")
        name = str(path[-1]).lower() if is_list(path) and path else ""
        return {"role": ROLES.get(name, "user"), "finish_reason": item.get("finish_reason"), **kwargs}
    data = item.get("data")
    if is_object(data) and str(item.get("type")) in _LANGCHAIN_TYPES:
        return {"role": item["type"], **data}
    return item


_LANGCHAIN_TYPES = frozenset(ROLES) | {"tool", "system"}
_ASSISTANT_ITEMS = frozenset({"function_call", "custom_tool_call", "tool_call", "tool-call", "tool_use"})


def _role(fields: Mapping[str, Any], default: str) -> str:
    if str(fields.get("type")) in _ASSISTANT_ITEMS:
        return "assistant"
    for key in ("role", "type"):
        word = fields.get(key)
        if isinstance(word, str) and (key == "role" or word.lower() in ROLES or word in ("system", "tool")):
            return ROLES.get(word.lower(), word.lower())
    return default


def _gather_calls(fields: Mapping[str, Any], parts: Parts) -> None:
    """Add the tool requests that stand beside the content."""
    calls = structured(fields.get("tool_calls") or fields.get("toolCalls"))
    extra = fields.get("additional_kwargs")
    if not calls and is_object(extra):
        calls = extra.get("tool_calls") or extra.get("function_call")
    if not calls and "type" not in fields:
        calls = fields.get("function_call")
    for call in calls if is_list(calls) else (calls,):
        if is_object(call) and (request := request_of(call)) is not None:
            parts.requests.append(request)


def _gather_content(fields: Mapping[str, Any], parts: Parts) -> None:
    known = {request.id for request in parts.requests}
    before = len(parts.requests)
    if str(fields.get("type")) in _WHOLE_PARTS or ("arguments" in fields and "role" not in fields):
        gather([fields], parts)
    else:
        content = _content(fields, "text")
        gather(_blocks(content) if isinstance(content, str) else content, parts)
    # Anthropic and LangChain repeat the calls of `tool_calls` among the content blocks.
    parts.requests[before:] = [new for new in parts.requests[before:] if new.id is None or new.id not in known]


def _content(fields: Mapping[str, Any], *more: str) -> Any:
    """Return a message's content: `parts` in OTel GenAI and Gemini, `contents` in OpenInference."""
    return next((fields[key] for key in ("parts", "content", "contents", *more) if fields.get(key) is not None), None)


_WHOLE_PARTS = _ASSISTANT_ITEMS | frozenset(
    {"function_call_output", "custom_tool_call_output", "tool_result", "tool_call_response"}
)


def _blocks(content: str) -> Any:
    """Return a content's blocks where text spells a list of them, or the text."""
    if content.lstrip()[:2] not in ("[{", "[ "):
        return content
    found = structured(content)
    whole = is_list(found) and found and all(is_object(block) for block in found)
    parts = Parts()
    if whole:
        gather(found, parts)
    return found if parts.texts or parts.requests or parts.responses else content


def _gather_tool_answer(fields: Mapping[str, Any], parts: Parts) -> None:
    """Add a tool message's responses: those among its parts, or else its whole content as one."""
    content = _content(fields)
    functions = fields.get("function")  # OpenInference on AutoGen
    for function in functions if is_list(functions) else ():
        if is_object(found := structured(function)):
            parts.responses.append(response_of(found))
    if parts.responses:
        return
    inside = Parts()
    gather(_blocks(content) if isinstance(content, str) else content, inside)
    if inside.responses or inside.requests:
        parts.responses.extend(inside.responses)
        parts.requests.extend(inside.requests)
        return
    if is_list(content) and inside.texts:
        content = "\n".join(inside.texts)
    plain = {key: value for key, value in fields.items() if key not in ("parts", "contents", "type")}
    parts.responses.append(response_of({"type": "tool", **plain, "content": content}))
