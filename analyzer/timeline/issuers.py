"""Which model call asked for this tool call? The first response that names the call's id."""

from collections.abc import Iterable

from analyzer.session.accessors import payload_of
from analyzer.session.model import Event
from analyzer.session.shapes import is_list, is_object

__all__ = ["issuers_of"]


def issuers_of(responses: Iterable[tuple[int, Event]]) -> dict[str, int]:
    """Return the position of the response that asks for it, by call id; `responses` come with their positions."""
    found: dict[str, int] = {}
    for position, response in responses:
        messages = payload_of(response).get("messages")
        for message in messages if is_list(messages) else ():
            requests = message.get("tool_requests") if is_object(message) else None
            for request in requests if is_list(requests) else ():
                call_id = request.get("id") if is_object(request) else None
                if isinstance(call_id, str):
                    found.setdefault(call_id, position)
    return found
