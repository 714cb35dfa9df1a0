"""Everything about a run that its events need to know, worked out once before the first event is written."""

from collections.abc import Sequence

from critiqor_otel.conventions.convention import Field, SpanRole
from critiqor_otel.reconstruct.calls import ToolCall, calls_of
from critiqor_otel.reconstruct.exchanges import Asked
from critiqor_otel.reconstruct.failures import first_failures, settle_failures
from critiqor_otel.reconstruct.node import Failure, Node
from critiqor_otel.reconstruct.places import settle_places
from critiqor_otel.reconstruct.twins import fuller_first, sibling_twins, twins
from critiqor_otel.reconstruct.usage import Usage, counted_usage

__all__ = ["Account"]


class Account:
    """The run's spans in order, parents first, with their places, calls, counted usage and first failures."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Settle the roles that only the whole run can tell, then work out the rest."""
        _name_the_agent(nodes)
        _silence_echoes(nodes)
        _silence_repeats(nodes)
        _silence_twins(nodes)
        settle_places(nodes)
        self.usage: dict[int, Usage] = counted_usage(nodes)
        settle_failures(nodes)
        self.failures: dict[int, Failure] = first_failures(nodes)
        self.call_of: dict[int, ToolCall] = {}
        """The call of each tool span, by the id() of its node."""
        self.asked_by: dict[int, list[ToolCall]] = {}
        """Calls without a span, by the model call that asked for them."""
        self.told_to: dict[int, list[ToolCall]] = {}
        """Calls without a span, by the model call that was told their result."""
        self.asked: dict[int, list[Asked]] = {}
        """What each model call asked tools for, by the id() of its node, where its own answer leaves out the ids."""
        for call in calls_of(nodes):
            self._place_call(call)
        self._settle_telling(nodes)
        for asked in self.asked.values():
            asked.sort(key=lambda one: one.place)

    def _place_call(self, call: ToolCall) -> None:
        if call.asked is not None and call.asked.retold:
            self.asked.setdefault(id(call.asked.model), []).append(call.asked)
        if call.node is not None:
            self.call_of[id(call.node)] = call
            return
        if call.asked is not None:
            self.asked_by.setdefault(id(call.asked.model), []).append(call)
        if call.answered is not None and not call.answered_at_once:
            self.told_to.setdefault(id(call.answered), []).append(call)

    def agent_name(self, node: Node) -> str | None:
        """Return the name of the agent a span belongs to: its own word, else that of the agent around it."""
        own: str | None = node.facts.get(_NAME) if node.role in _BY_ITS_WORD else None
        agent = node.place.agent
        return own or (None if agent is None else agent.facts.get(_NAME))

    def _settle_telling(self, nodes: Sequence[Node]) -> None:
        """Tell each node the role its events are written in: spans inside a call or a model call tell nothing new."""
        for node in nodes:
            role = node.role
            inside = (role is _TOOL and id(node) not in self.call_of) or (
                role is _MODEL and node.place.model is not node
            )
            node.tells = SpanRole.OTHER if inside else role


_TOOL, _MODEL = SpanRole.TOOL, SpanRole.MODEL
_BY_ITS_WORD = frozenset({_TOOL, _MODEL})
_NAME = Field.AGENT_NAME


def _name_the_agent(nodes: Sequence[Node]) -> None:
    """Take the root around a run's evidence for its agent when no span says that it is one: a stranger's, or a step."""
    if any(node.role is SpanRole.AGENT for node in nodes):
        return
    for node in nodes:
        around = node.facts.family in _STRANGERS or node.role is SpanRole.TURN
        if node.parent is None and around and node.children:
            node.role = SpanRole.AGENT


_STRANGERS = (None, "critiqor")  # a span that only says whose it is


def _silence_echoes(nodes: Sequence[Node]) -> None:
    """Let log records of model calls tell nothing where the same family's spans tell of model calls too."""
    echoes = [node for node in nodes if node.from_log and node.role is _MODEL]
    if not echoes:
        return
    spoken = {node.facts.family for node in nodes if node.role is _MODEL and not node.from_log}
    for node in echoes:
        if node.facts.family in spoken:
            node.role = SpanRole.OTHER


def _silence_twins(nodes: Sequence[Node]) -> None:
    """Let of two spans that tell of one answer, or of one tool call, the fuller one tell."""
    for one, other in [*twins(nodes), *sibling_twins(nodes)]:
        fuller_first(one, other)[1].role = SpanRole.OTHER


def _silence_repeats(nodes: Sequence[Node]) -> None:
    """Let a message that was handed to several receivers tell once."""
    told: set[str] = set()
    for node in nodes:
        if node.role not in _HANDED_ON:
            continue
        message = node.facts.get(Field.MESSAGE_ID)
        if message is not None and message in told:
            node.role = SpanRole.OTHER
        elif message is not None:
            told.add(message)


_HANDED_ON = frozenset({SpanRole.USAGE, SpanRole.MESSAGE})
