"""Which run does this process, or this span, belong to?"""

import os

from opentelemetry.trace import Span

from critiqor_otel.conventions.carriage import RUN_ID

__all__ = ["RUN_VARIABLE", "new_run_id", "run_id_of_process", "run_id_of_span"]

RUN_VARIABLE = "CRITIQOR_RUN_ID"
"""The run that a process which started this one put it into (critiqor.session.v1)."""


def run_id_of_process() -> str | None:
    """Return the run that the environment names."""
    return os.environ.get(RUN_VARIABLE) or None


def run_id_of_span(span: Span | None) -> str | None:
    """Return the run that stands on a span of this process, or None when none does."""
    attributes = getattr(span, "attributes", None)
    found = None if attributes is None else attributes.get(RUN_ID)
    return found if isinstance(found, str) and found else None


def new_run_id() -> str:
    """Return an id that no other run has."""
    return os.urandom(16).hex()
