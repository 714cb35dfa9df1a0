"""What to switch on in a library so that its traces carry what they leave out.

A remedy is one short imperative sentence with the setting's exact name: an environment variable, an argument of a
constructor, a line of a configuration file.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from analyzer.timeline.missing import Fact

__all__ = [
    "AGENT_FRAMEWORK_CONTENT",
    "OPENINFERENCE_CONTENT",
    "OPENINFERENCE_SESSION",
    "OPENLLMETRY_CONTENT",
    "Aspect",
    "Extra",
    "Library",
    "Remedies",
    "content_by",
]

# Sentences that several tables share: one project's instrumentations have the same switches.
OPENINFERENCE_CONTENT = (
    "Unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the other OPENINFERENCE_HIDE_* variables, or leave"
    " the hide_* arguments of TraceConfig at False."
)
OPENINFERENCE_SESSION = "Run the agent inside using_session(session_id=…) of openinference.instrumentation."
AGENT_FRAMEWORK_CONTENT = (
    "Set ENABLE_SENSITIVE_DATA=true, or call configure_otel_providers(enable_sensitive_data=True)."
)
OPENLLMETRY_CONTENT = "Unset TRACELOOP_TRACE_CONTENT, or set it to true."


class Extra(StrEnum):
    """What a trace may carry besides the facts that `missing` names; no detector is blind without it."""

    AGENT_NAME = "agent_name"
    CONVERSATION_ID = "conversation_id"
    CACHED_INPUT = "cached_input"


Aspect: TypeAlias = Fact | Extra
Remedies: TypeAlias = Mapping[Aspect, str]


class Library(Struct, frozen=True, kw_only=True):
    """One of the libraries that write a family's names, known by its scope, with switches of its own."""

    name: str
    scopes: tuple[str, ...]
    """How the names of its scopes begin."""
    remedies: Remedies

    def wrote(self, scope: str) -> bool:
        """Tell whether a span of this scope is the library's."""
        return scope.startswith(self.scopes)


def content_by(remedy: str) -> dict[Aspect, str]:
    """Return the remedies of a library in which one switch brings all content: arguments, results, messages."""
    return {Fact.TOOL_ARGUMENTS: remedy, Fact.TOOL_RESULTS: remedy, Fact.MESSAGES: remedy}
