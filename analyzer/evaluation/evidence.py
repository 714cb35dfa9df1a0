"""What is known of one agent run: its calls, outputs, trace and metrics, as the documented evidence types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

from analyzer.evaluation.frozen import FrozenDict, FrozenList, document, freeze
from analyzer.evaluation.words import EVIDENCE_LEVELS, EvidenceLevel
from analyzer.lenient import (
    as_mapping,
    as_number,
    as_optional_text,
    as_sequence,
    as_text,
    as_whole,
    as_word,
    is_mapping,
    is_sequence,
)

__all__ = ["EvaluationEvidence", "RuntimeMetrics", "ToolCall", "ToolOutput"]

_NO_TOOL = "tool"  # the name of a tool that nobody named (specification §5)
_INFERRED = cast("EvidenceLevel", "")
_CALL_UNLESS_NONE = frozenset(("id", "timestamp"))
_OUTPUT_UNLESS_NONE = frozenset(("call_id", "error", "timestamp"))


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=FrozenDict)
    id: str | None = None
    timestamp: float | None = None
    """Seconds since the epoch."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", freeze(_arguments(self.args)))

    def to_dict(self) -> dict[str, Any]:
        """Return the call as a JSON-serialisable dict, without `id` and `timestamp` when there are none."""
        fields = {"tool": self.tool, "args": self.args, "id": self.id, "timestamp": self.timestamp}
        return document(fields, unless_none=_CALL_UNLESS_NONE)

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the call of a dict (`tool` or `name`, `args`, `id` or `call_id`); anything else names the tool."""
        if not is_mapping(payload):
            return cls(as_text(payload, _NO_TOOL))
        return cls(
            tool=as_text(_first(payload, ("tool", "name"), _NO_TOOL)),
            args=payload.get("args", {}),
            id=as_optional_text(_first(payload, ("id", "call_id"))),
            timestamp=as_number(payload.get("timestamp")),
        )


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gave back."""

    tool: str
    output: Any = ""
    call_id: str | None = None
    error: str | None = None
    """The error text of a failed call; None on success."""
    timestamp: float | None = None
    """Seconds since the epoch."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", freeze(self.output))

    def to_dict(self) -> dict[str, Any]:
        """Return the output as a JSON-serialisable dict, without call id, error and timestamp when there are none."""
        fields = {
            "tool": self.tool,
            "output": self.output,
            "call_id": self.call_id,
            "error": self.error,
            "timestamp": self.timestamp,
        }
        return document(fields, unless_none=_OUTPUT_UNLESS_NONE)

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the output of a dict (`output` or `result`, `call_id` or `id`); anything else is itself the output."""
        if not is_mapping(payload):
            return cls(_NO_TOOL, payload)
        return cls(
            tool=as_text(_first(payload, ("tool", "name"), _NO_TOOL)),
            output=_first(payload, ("output", "result"), ""),
            call_id=as_optional_text(_first(payload, ("call_id", "id"))),
            error=as_optional_text(payload.get("error")),
            timestamp=as_number(payload.get("timestamp")),
        )


@dataclass(frozen=True, slots=True)
class RuntimeMetrics:
    """How a run went, seen from outside."""

    latency: float | None = None
    """Wall-clock seconds."""
    token_usage: Mapping[str, Any] = field(default_factory=FrozenDict)
    retries: int = 0
    errors: Sequence[str] = field(default_factory=FrozenList)
    """Error texts in the order they came."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "token_usage", freeze(as_mapping(self.token_usage)))
        object.__setattr__(self, "errors", _texts(self.errors))

    def to_dict(self) -> dict[str, Any]:
        """Return the four fields as a JSON-serialisable dict."""
        return document(
            {
                "latency": self.latency,
                "token_usage": self.token_usage,
                "retries": self.retries,
                "errors": self.errors,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the metrics of a dict; a single error text is a list of one, what can't be read is its default."""
        found = as_mapping(payload)
        return cls(
            latency=as_number(found.get("latency")),
            token_usage=freeze(as_mapping(found.get("token_usage"))),
            retries=as_whole(found.get("retries")),
            errors=_texts(found.get("errors")),
        )


@dataclass(frozen=True, slots=True)
class EvaluationEvidence:
    """Everything that an evaluation looks at. Calls, outputs and metrics may be given as the dicts they come from."""

    prompt: str = ""
    response: str = ""
    tool_calls: Sequence[ToolCall] = field(default_factory=FrozenList)
    """In order, as the outputs and the trace are."""
    tool_outputs: Sequence[ToolOutput] = field(default_factory=FrozenList)
    trace: Sequence[Mapping[str, Any]] = field(default_factory=FrozenList)
    """Events as dicts, `event` being their name."""
    metrics: RuntimeMetrics = field(default_factory=RuntimeMetrics)
    evidence_level: EvidenceLevel = _INFERRED
    """Inferred from the rest unless it is given as one of the three levels."""

    def __post_init__(self) -> None:
        calls = [item if isinstance(item, ToolCall) else ToolCall.from_dict(item) for item in _list(self.tool_calls)]
        outputs = [
            item if isinstance(item, ToolOutput) else ToolOutput.from_dict(item) for item in _list(self.tool_outputs)
        ]
        trace = [item if is_mapping(item) else {"event": as_text(item)} for item in _list(self.trace)]
        metrics: Any = self.metrics
        object.__setattr__(self, "tool_calls", FrozenList(calls))
        object.__setattr__(self, "tool_outputs", FrozenList(outputs))
        object.__setattr__(self, "trace", freeze(trace))
        object.__setattr__(
            self, "metrics", metrics if isinstance(metrics, RuntimeMetrics) else RuntimeMetrics.from_dict(metrics)
        )
        object.__setattr__(self, "evidence_level", as_word(self.evidence_level, EVIDENCE_LEVELS, self._inferred()))

    def to_dict(self) -> dict[str, Any]:
        """Return all seven fields as a JSON-serialisable dict."""
        return document(
            {
                "prompt": self.prompt,
                "response": self.response,
                "tool_calls": self.tool_calls,
                "tool_outputs": self.tool_outputs,
                "trace": self.trace,
                "metrics": self.metrics,
                "evidence_level": self.evidence_level,
            }
        )

    @classmethod
    def from_dict(cls, payload: Any) -> Self:
        """Return the evidence of a dict; what is missing is empty, an unknown level is inferred."""
        found = as_mapping(payload)
        return cls(
            prompt=_spoken(found.get("prompt")),
            response=_spoken(found.get("response")),
            tool_calls=found.get("tool_calls", ()),
            tool_outputs=found.get("tool_outputs", ()),
            trace=found.get("trace", ()),
            metrics=found.get("metrics", {}),
            evidence_level=found.get("evidence_level", _INFERRED),
        )

    def _inferred(self) -> EvidenceLevel:
        """Trace or latency: fully instrumented. Calls or outputs: trace available (specification §5)."""
        if self.trace or self.metrics.latency is not None:
            return "fully_instrumented"
        return "trace_available" if self.tool_calls or self.tool_outputs else "response_only"


def _first(payload: Any, names: tuple[str, ...], default: Any = None) -> Any:
    return next((payload[name] for name in names if name in payload), default)


def _arguments(value: Any) -> Any:
    if value is None:
        return {}
    return value if is_mapping(value) else {"args": value}


def _texts(value: Any) -> FrozenList:
    if value is None:
        return FrozenList()
    return FrozenList(map(as_text, as_sequence(value) if is_sequence(value) else (value,)))


def _list(value: Any) -> Any:
    if value is None:
        return ()
    return value if is_sequence(value) else (value,)


def _spoken(value: Any) -> str:
    return "" if value is None else as_text(value)
