"""A Python callable as an agent's process: `python -m critiqor_otel.cli.calling MODULE:NAME PROMPT`, under observation.

It runs in a process of its own, so that it may be ended for its time, or end its process, and cost no other run.
"""

import asyncio
import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from analyzer.lenient import as_text
from critiqor_otel.emit.batching import SpanBatcher
from critiqor_otel.emit.configure import join_parent
from critiqor_otel.emit.otlp_exporter import OTLPSpanExporter
from critiqor_otel.emit.processor import CritiqorSpanProcessor
from critiqor_otel.emit.recorder import monitor
from critiqor_otel.emit.recording_options import RecordingOptions

__all__ = ["answer", "main"]


def answer(name: str, prompt: str) -> str:
    """Return what the callable of `module:name` answers to the prompt; a coroutine is run to its end.

    What it raises is raised.

    Raises:
        TypeError: the name is no callable.
    """
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{name} is no callable but {type(found).__name__}")
    return as_text(_outcome(found, prompt))


def main() -> int:
    """Call, with the evidence sent where the environment says, and print the answer."""
    name, prompt = sys.argv[1:]
    sys.path.insert(0, "")  # as `python -m` finds modules
    provider = TracerProvider()
    provider.add_span_processor(CritiqorSpanProcessor())
    provider.add_span_processor(SpanBatcher(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    join_parent()
    try:
        with monitor(prompt, agent=name, options=RecordingOptions(capture_content=True)) as recorder:
            said = answer(name, prompt)
            recorder.finish(said)
    finally:
        provider.shutdown()
    print(said)  # noqa: T201  # the agent's answer
    return 0


def _outcome(call: Callable[[str], Any], prompt: str) -> Any:
    outcome = call(prompt)
    return asyncio.run(_awaited(outcome)) if inspect.isawaitable(outcome) else outcome


async def _awaited(outcome: Any) -> Any:
    return await outcome


if __name__ == "__main__":
    sys.exit(main())
