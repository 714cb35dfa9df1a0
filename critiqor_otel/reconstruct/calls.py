"""Each tool call once, whatever carried it: its own span, the model's answer, the next request, a log record.

Calls are the tool spans; an answer's request for a tool becomes a call only where no span is its own. Arguments and
results missing on the span are taken from the messages. Re-sent history never makes a call.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

from analyzer.timeline.outcome import error_text
from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.plans import Form
from critiqor_otel.conventions.pseudo_tools import is_pseudo_tool
from critiqor_otel.reconstruct.exchanges import Asked, Exchanges, canonical
from critiqor_otel.reconstruct.node import Failure, Node
from critiqor_otel.reconstruct.values import as_json
from critiqor_otel.span import StatusCode

__all__ = ["ToolCall", "calls_of"]


class ToolCall:
    """One tool call being put together; None is what is not known."""

    __slots__ = (
        "answered",
        "arguments",
        "asked",
        "call_id",
        "error",
        "error_type",
        "exit_code",
        "failed",
        "name",
        "node",
        "result",
    )

    def __init__(self, name: str | None, node: Node | None, asked: Asked | None) -> None:
        """Begin with where the call was seen: its span, the model call that asked for it, or both."""
        self.name = name
        self.node = node
        self.asked = asked
        self.answered: Node | None = None
        """The model call that was told the result."""
        self.call_id: str | None = None
        self.arguments: Any = None
        self.result: Any = None
        self.failed: bool | None = None
        self.error: str | None = None
        self.error_type: str | None = None
        self.exit_code: int | None = None

    @property
    def answered_at_once(self) -> bool:
        """Tell whether one span holds both the request and its answer: a provider's own tool, or a transcript."""
        return self.asked is not None and self.answered is self.asked.model

    @property
    def pseudo(self) -> bool:
        """Tell whether the call only carries the answer."""
        return self.name is not None and is_pseudo_tool(self.name)


def calls_of(nodes: Sequence[Node]) -> list[ToolCall]:
    """Return the run's tool calls: those with spans in span order, then those known from messages alone."""
    exchanges = Exchanges(nodes)
    calls = _span_calls(nodes)
    if not exchanges.asked:
        return calls
    matched = _Matching(exchanges.asked)
    for call in calls:
        call.asked = matched.by_id(call)
    for find in (matched.by_arguments, matched.by_turn):
        for call in sorted((call for call in calls if call.asked is None), key=_start_of):
            call.asked = find(call)
    derived = [_call_of_request(asked) for asked in matched.left_over()]
    for call in (*calls, *derived):
        if call.asked is not None:
            _learn_from_messages(call, call.asked, exchanges)
    return [*calls, *derived]


def _start_of(call: ToolCall) -> int:
    return 0 if call.node is None else call.node.start_ns or 0


def _span_calls(nodes: Sequence[Node]) -> list[ToolCall]:
    """Return a call for each outermost tool span, with what the spans inside it know."""
    parts: dict[int, list[Node]] = {}
    outers: list[Node] = []
    for node in nodes:
        outer = node.place.tool
        if outer is node:
            outers.append(node)
        elif outer is not None and node.role in _PARTS:
            parts.setdefault(id(outer), []).append(node)
    return _with_records([_span_call(node, parts.get(id(node), [])) for node in outers])


_PARTS = frozenset({SpanRole.TOOL, SpanRole.OTHER, SpanRole.PROCESS})
"""What tells of its tool call from inside: a transport, an execution, a process."""


def _span_call(outer: Node, parts: Sequence[Node]) -> ToolCall:
    call = ToolCall(None, outer, None)
    _learn_from_span(call, outer.facts)
    for part in parts:
        if part.role is not SpanRole.OTHER:
            _learn_from_span(call, part.facts)
    failure = outer.failure or _failure_inside(outer, parts)
    if failure is not None:
        call.failed = True
        call.error_type = failure.error_type
        told = call.result if isinstance(call.result, str) else None
        call.error = failure.message or error_text(call.result) or told or failure.error_type
    elif outer.end_ns is not None:
        call.failed = False
    return call


def _learn_from_span(call: ToolCall, facts: Facts) -> None:
    told = facts.known(_TOLD)
    if call.name is None:
        call.name = told.get("name")
    if call.call_id is None:
        call.call_id = told.get("call_id")
    if call.arguments is None:
        call.arguments = as_json(told.get("arguments"))
    if call.result is None:
        call.result = as_json(told.get("result"))
    if call.exit_code is None:
        call.exit_code = told.get("exit_code")


_TOLD = Form(
    name=Field.TOOL_NAME,
    call_id=Field.TOOL_CALL_ID,
    arguments=Field.TOOL_ARGUMENTS,
    result=Field.TOOL_RESULT,
    exit_code=Field.EXIT_CODE,
)


def _failure_inside(outer: Node, parts: Sequence[Node]) -> Failure | None:
    """Return the failure of the last attempt inside a call whose own span says nothing."""
    if outer.span.status is StatusCode.OK:
        return None
    telling = [part for part in parts if part.role is SpanRole.TOOL or part.failure is not None]
    return telling[-1].failure if telling else None


def _with_records(calls: list[ToolCall]) -> list[ToolCall]:
    """Fold calls that were reported as log records into the spans of the same family that tell of them too."""
    spoken = {call.node.facts.family for call in calls if call.node is not None and not call.node.from_log}
    kept: list[ToolCall] = []
    records: list[ToolCall] = []
    for call in calls:
        echo = call.node is not None and call.node.from_log and call.node.facts.family in spoken
        (records if echo else kept).append(call)
    by_id = {call.call_id: call for call in kept if call.call_id is not None}
    waiting: dict[str | None, deque[ToolCall]] = {}
    for call in kept:
        if call.call_id is None:
            waiting.setdefault(call.name, deque()).append(call)
    for record in records:
        home = by_id.get(record.call_id or "")
        if home is None and waiting.get(record.name):
            home = waiting[record.name].popleft()
        if home is None:
            kept.append(record)
        else:
            _fold(home, record)
    return kept


def _fold(home: ToolCall, record: ToolCall) -> None:
    home.call_id = home.call_id or record.call_id
    home.arguments = home.arguments if home.arguments is not None else record.arguments
    home.result = home.result if home.result is not None else record.result
    home.exit_code = home.exit_code if home.exit_code is not None else record.exit_code
    if record.failed and not home.failed:
        home.failed, home.error, home.error_type = True, record.error, record.error_type


class _Matching:
    """Requests for tools that still wait for the span that carries them out, in order of time.

    Only the first that waits is ever looked at, so that no run costs the square of its calls.
    """

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._asked = asked
        self._taken: set[int] = set()
        self._by_id: dict[str, deque[int]] = {}
        self._by_arguments: dict[tuple[str, str], deque[int]] = {}
        self._late: dict[tuple[str, str], deque[int]] = {}
        self._by_name: dict[str, deque[int]] = {}
        for index, one in enumerate(asked):
            if one.request.id is not None:
                self._by_id.setdefault(one.request.id, deque()).append(index)
            self._by_arguments.setdefault((one.request.name, canonical(one.request.arguments)), deque()).append(index)
            self._by_name.setdefault(one.request.name, deque()).append(index)

    def by_id(self, call: ToolCall) -> Asked | None:
        first = self._first(self._by_id.get(call.call_id or ""))
        return None if first is None else self._take(first)

    def by_arguments(self, call: ToolCall) -> Asked | None:
        """Take a request with the call's arguments: one that was not yet answered, else the first.

        A call that failed may have no span, and one that runs in the background may begin late.
        """
        key = call.name or "", canonical(call.arguments)
        waiting, late = self._by_arguments.get(key), self._late.setdefault(key, deque())
        late += self._answered_before(waiting, call)
        return self._started(waiting, call) or self._started(late, call)

    def by_turn(self, call: ToolCall) -> Asked | None:
        """Take a request for the tool that was made before the span began and was not yet answered."""
        waiting = self._by_name.get(call.name or "")
        self._answered_before(waiting, call)
        return self._started(waiting, call)

    def _answered_before(self, waiting: deque[int] | None, call: ToolCall) -> list[int]:
        """Take out, and return, the requests that were answered before the call began.

        The calls are to come in order of time: what was answered before one of them is so before all that follow.
        """
        gone: list[int] = []
        while waiting and call.node is not None and (first := self._first(waiting)) is not None:
            if self._asked[first].in_turn(call.node):
                break
            gone.append(waiting.popleft())
        return gone

    def left_over(self) -> list[Asked]:
        return [one for index, one in enumerate(self._asked) if index not in self._taken]

    def _started(self, waiting: deque[int] | None, call: ToolCall) -> Asked | None:
        """Take the first request that waits if it was made before the span began; later ones were made later still."""
        first = self._first(waiting)
        if first is None or call.node is None or not self._asked[first].could_start(call.node):
            return None
        return self._take(first)

    def _first(self, waiting: deque[int] | None) -> int | None:
        while waiting and waiting[0] in self._taken:
            waiting.popleft()
        return waiting[0] if waiting else None

    def _take(self, index: int) -> Asked:
        self._taken.add(index)
        return self._asked[index]


def _call_of_request(asked: Asked) -> ToolCall:
    call = ToolCall(asked.request.name, None, asked)
    call.call_id = asked.call_id
    call.arguments = as_json(asked.request.arguments)
    return call


def _learn_from_messages(call: ToolCall, asked: Asked, exchanges: Exchanges) -> None:
    call.call_id = call.call_id or asked.call_id
    wanted = asked.request.arguments
    if wanted is not None and not isinstance(call.arguments, dict):
        call.arguments = as_json(wanted)
    answer = exchanges.answer_to(asked)
    if answer is None:
        return
    response, call.answered = answer
    if call.result is None:
        call.result = as_json(response.result)
    if response.is_error is not None and call.failed is not True:
        call.failed = response.is_error
