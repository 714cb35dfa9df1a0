"""Is this run going wrong while it still runs? A bounded watch over the spans as they end.

It counts equal calls with equal results, calls that fail in a row, and tokens; each finding is told once a run. The
full diagnosis comes from the session; this is for stopping an agent that burns money now.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from opentelemetry.sdk.trace import ReadableSpan

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.conventions.facts import Facts
from critiqor_otel.conventions.registry import facts_of
from critiqor_otel.decode.sdk import SdkReader
from critiqor_otel.emit.fingerprints import Fingerprints
from critiqor_otel.span import StatusCode

__all__ = ["Alarm", "Watch"]

_MOST_RUNS = 1_000
_MOST_CALLS = 1_000  # fingerprints a run
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """What the watch saw."""

    kind: Literal["infinite_tool_loop", "repeated_errors", "token_budget"]
    run_id: str
    tool: str | None
    count: int
    """Equal calls, failures in a row, or tokens."""
    message: str


@dataclass(slots=True)
class _Seen:
    """What was seen of one run."""

    calls: OrderedDict[tuple[str, str], int] = field(default_factory=OrderedDict)
    failures: int = 0
    tokens: int = 0
    told: set[tuple[str, str | None]] = field(default_factory=set)


class Watch:
    """Watches runs and calls back. Thread-safe; an exception of the callback is logged and goes no further."""

    def __init__(
        self,
        on_failure: Callable[[Alarm], object],
        *,
        equal_calls: int = 3,
        errors_in_a_row: int = 5,
        token_budget: int | None = None,
    ) -> None:
        """Take whom to call, and from which number of each on; None: tokens are not watched."""
        self._on_failure = on_failure
        self._equal_calls = equal_calls
        self._errors_in_a_row = errors_in_a_row
        self._token_budget = token_budget
        self._fingerprints = Fingerprints()
        self._reader = SdkReader()
        self._runs: OrderedDict[str, _Seen] = OrderedDict()
        self._lock = threading.Lock()

    def look_at(self, span: ReadableSpan, run_id: str) -> None:
        """Take a span that has ended."""
        facts = facts_of(self._reader.span(span))
        with self._lock:
            seen = self._seen(run_id)
            alarm = self._tool(facts, seen, run_id) if facts.role is SpanRole.TOOL else None
            if facts.role is SpanRole.MODEL:
                alarm = self._model(facts, seen, run_id)
        if alarm is not None:
            try:
                self._on_failure(alarm)
            except Exception:
                _logger.exception("on_failure failed on %s", alarm.kind)

    def _seen(self, run_id: str) -> _Seen:
        seen = self._runs.get(run_id)
        if seen is None:
            seen = self._runs[run_id] = _Seen()
            if len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)
        return seen

    def _tool(self, facts: Facts, seen: _Seen, run_id: str) -> Alarm | None:
        tool = facts.get(Field.TOOL_NAME)
        failed = bool(facts.get(Field.FAILED)) or facts.span.status is StatusCode.ERROR
        seen.failures = seen.failures + 1 if failed else 0
        if seen.failures >= self._errors_in_a_row and self._is_new(seen, "repeated_errors", None):
            text = f"{seen.failures} tool calls in a row failed, the last one of {tool}"
            return Alarm(kind="repeated_errors", run_id=run_id, tool=tool, count=seen.failures, message=text)
        count = self._equal(facts, tool, seen)
        if count >= self._equal_calls and self._is_new(seen, "infinite_tool_loop", tool):
            text = f"{tool} was called {count} times with equal arguments and taught nothing new"
            return Alarm(kind="infinite_tool_loop", run_id=run_id, tool=tool, count=count, message=text)
        return None

    def _equal(self, facts: Facts, tool: str | None, seen: _Seen) -> int:
        """Return how often this call was made with this result; a result that changes is progress."""
        arguments, result = facts.get(Field.TOOL_ARGUMENTS), facts.get(Field.TOOL_RESULT)
        print_in, print_out = facts.get(Field.INPUT_FINGERPRINT), facts.get(Field.RESULT_FINGERPRINT)
        if arguments is None and print_in is None:
            return 0
        call_id = facts.get(Field.TOOL_CALL_ID)
        key = (
            f"{tool}\0{print_in or self._fingerprints.of(arguments)}",
            print_out or self._fingerprints.of_result(result, call_id),
        )
        count = seen.calls[key] = seen.calls.pop(key, 0) + 1
        if len(seen.calls) > _MOST_CALLS:
            seen.calls.popitem(last=False)
        return count

    def _model(self, facts: Facts, seen: _Seen, run_id: str) -> Alarm | None:
        seen.tokens += sum(facts.get(name) or 0 for name in (Field.INPUT_TOKENS, Field.OUTPUT_TOKENS))
        budget = self._token_budget
        if budget is None or seen.tokens <= budget or not self._is_new(seen, "token_budget", None):
            return None
        text = f"{seen.tokens} tokens are more than the budget of {budget}"
        return Alarm(kind="token_budget", run_id=run_id, tool=None, count=seen.tokens, message=text)

    def _is_new(self, seen: _Seen, kind: str, tool: str | None) -> bool:
        if (kind, tool) in seen.told:
            return False
        seen.told.add((kind, tool))
        return True
