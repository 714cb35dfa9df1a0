"""What a record, an agent and a run look like as rows of the store: the columns it searches by, and the whole."""

from typing import Any

from analyzer.evaluation.diagnosed import RunSummary
from analyzer.evaluation.record import EvaluationRecord
from analyzer.evaluation.roster import AgentProfile
from analyzer.session.instants import parse_instant
from analyzer.session.jsontext import canonical

__all__ = ["agent_row", "bounded_text", "record_row", "run_row"]

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1  # SQLite's integers


def record_row(record: EvaluationRecord, source: str) -> tuple[Any, ...]:
    """Return run id, agent id, time, trust, source and body."""
    return (
        bounded_text(record.run_id),
        bounded_text(record.agent_id),
        _at(record.timestamp),
        _bounded(record.trust_score),
        source,
        _body(record.to_dict()),
    )


def agent_row(profile: AgentProfile) -> tuple[Any, ...]:
    """Return agent id and body."""
    return bounded_text(profile.agent_id), _body(profile.to_dict())


def run_row(run: RunSummary) -> tuple[Any, ...]:
    """Return the columns of `runs` in their order."""
    return (
        bounded_text(run.run_id),
        bounded_text(run.agent_id),
        _at(run.timestamp),
        _optional_text(run.status),
        _optional(run.trust_score),
        _optional_text(run.readiness),
        _optional_text(run.primary_failure),
        _optional(run.exit_code),
        run.latency if run.latency is None else float(run.latency),
        _optional(run.tokens),
        _body(run.to_dict()),
    )


def bounded_text(text: str) -> str:
    """Return the text as a column holds it: what UTF-8 has no place for is spelled out; the body keeps the original."""
    return text.encode("utf-8", "backslashreplace").decode()


def _at(timestamp: str) -> int:
    moment = parse_instant(timestamp)
    return _SMALLEST if moment is None else _bounded(moment)


def _bounded(number: int) -> int:
    return max(_SMALLEST, min(_LARGEST, number))


def _optional(number: int | None) -> int | None:
    return None if number is None else _bounded(number)


def _optional_text(text: str | None) -> str | None:
    return None if text is None else bounded_text(text)


def _body(document: dict[str, Any]) -> str:
    return canonical(document).decode()
