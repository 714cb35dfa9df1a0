"""What in a run shows each thing that a trace may carry: who should have told, and whether they did."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from analyzer.session.model import SpanRef
from analyzer.timeline.index import Timeline
from analyzer.timeline.missing import Fact
from analyzer.timeline.model_calls import REPORT, ModelCall
from critiqor_otel.conventions.remedies import Aspect, Extra
from critiqor_otel.engine.origins import Origins

__all__ = ["ASPECTS", "Study", "Witness", "lacks", "witnesses"]

ASPECTS: tuple[Aspect, ...] = (*Fact, *Extra)

Witness = tuple[SpanRef | None, bool]
"""The span that should carry it (None: the run as a whole), and whether it does."""


@dataclass(frozen=True, slots=True)
class Study:
    """One run, looked at for what it carries."""

    timeline: Timeline
    origins: Origins

    def span_of(self, call: ModelCall) -> SpanRef | None:
        """Return the span of a model call."""
        event_id = call.request_id if call.request_id is not None else call.response_id
        place = None if event_id is None else self.timeline.position_of.get(event_id)
        return None if place is None else self.timeline.events[place].span


def witnesses(aspect: Aspect, study: Study) -> Iterator[Witness]:
    """Yield who should carry it in this run."""
    return _WITNESSES[aspect](study)


def lacks(aspect: Aspect, study: Study) -> bool:
    """Tell whether the run lacks it, or has it in part only."""
    if isinstance(aspect, Extra):
        return not any(told for _, told in witnesses(aspect, study))
    timeline = study.timeline
    if aspect is Fact.TOKENS and not timeline.tokens.complete:
        return True
    if aspect is Fact.MESSAGES and not timeline.model_calls:
        return Fact.MODEL_CALLS in timeline.missing
    return aspect in timeline.missing


def _tokens(study: Study) -> Iterator[Witness]:
    for call in study.timeline.model_calls:
        yield study.span_of(call), call.usage is not None
    for event in study.timeline.events:
        if event.event_type == REPORT:
            yield event.span, True


def _model_calls(study: Study) -> Iterator[Witness]:
    return ((study.span_of(call), True) for call in study.timeline.model_calls)


def _messages(study: Study) -> Iterator[Witness]:
    return ((study.span_of(call), call.messages) for call in study.timeline.model_calls)


def _tool_calls(study: Study) -> Iterator[Witness]:
    return ((call.span, True) for call in study.timeline.calls)


def _arguments(study: Study) -> Iterator[Witness]:
    # A fingerprint tells equal arguments from others, which is what they are needed for.
    return ((call.span, call.fingerprint is not None) for call in study.timeline.work)


def _results(study: Study) -> Iterator[Witness]:
    answered = (call for call in study.timeline.work if call.output_id is not None)
    return ((call.span, call.result_key is not None or call.error is not None) for call in answered)


def _outcomes(study: Study) -> Iterator[Witness]:
    answered = (call for call in study.timeline.work if call.output_id is not None)
    return ((call.span, call.status is not None) for call in answered)


def _agent_name(study: Study) -> Iterator[Witness]:
    yield None, study.timeline.session.agent.name is not None


def _conversation(study: Study) -> Iterator[Witness]:
    yield None, study.origins.conversation


def _cached_input(study: Study) -> Iterator[Witness]:
    yield None, study.timeline.tokens.cached_input is not None


_WITNESSES: Mapping[Aspect, Callable[[Study], Iterator[Witness]]] = {
    Fact.TOKENS: _tokens,
    Fact.MODEL_CALLS: _model_calls,
    Fact.TOOL_CALLS: _tool_calls,
    Fact.TOOL_ARGUMENTS: _arguments,
    Fact.TOOL_RESULTS: _results,
    Fact.TOOL_ERRORS: _outcomes,
    Fact.MESSAGES: _messages,
    Extra.AGENT_NAME: _agent_name,
    Extra.CONVERSATION_ID: _conversation,
    Extra.CACHED_INPUT: _cached_input,
}
