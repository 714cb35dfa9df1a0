"""An agent that is a process of its own, observed from outside: how it started, what it printed, how it ended.

Its output is passed through as it comes. A line that is a JSON object with an event's name is that event; every other
line is `process_output`. The child inherits the run: TRACEPARENT, CRITIQOR_RUN_ID and the OTEL_* settings.
"""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import msgspec
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from analyzer.session.shapes import is_object
from critiqor_otel.conventions.carriage import RUN_ID
from critiqor_otel.emit.recorder import EvidenceRecorder, current_recorder
from critiqor_otel.emit.run_identity import RUN_VARIABLE

__all__ = ["ProcessOutcome", "child_environment", "monitor_process"]

_NOT_FOUND = 127  # as shells report it
_CHUNK = 65_536
_LONGEST_LINE = 1 << 20  # bytes; a longer one is told in pieces
_GRACE = 3.0  # seconds that a process has to end by itself, and its pipes to run dry
_RESOURCE = "OTEL_RESOURCE_ATTRIBUTES"
_NAMES = ("event", "type", "event_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOutcome:
    """How the process ended, and what was recorded of it."""

    exit_code: int | None
    """None when it was ended for taking too long; negative for a signal, 127 where there is no such command."""
    latency: float
    """Seconds."""
    timed_out: bool
    recorder: EvidenceRecorder


def monitor_process(
    command: Sequence[str] | str,
    *,
    timeout: float | None = None,
    recorder: EvidenceRecorder | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
) -> ProcessOutcome:
    """Run an agent's command to its end, record what it does, and return how it ended.

    Its evidence goes to the recorder given, else to the current one, else to a new one. `env` is set on top of this
    process's environment. After `timeout` seconds the process and its children are ended.
    """
    words = shlex.split(command) if isinstance(command, str) else list(command)
    into = recorder or current_recorder()
    own = EvidenceRecorder(agent=Path(words[0]).name if words else None) if into is None else into
    with own if into is None else nullcontext():
        return _Monitored(own, words).run(timeout, child_environment(own.run_id, env), cwd)


def child_environment(run_id: str, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which a process joins the run and the trace that is current here."""
    child = {**os.environ, RUN_VARIABLE: run_id}
    named = [part for part in child.get(_RESOURCE, "").split(",") if part and not part.startswith(f"{RUN_ID}=")]
    child[_RESOURCE] = ",".join((*named, f"{RUN_ID}={quote(run_id, safe='')}"))
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return {**child, **{name.upper(): value for name, value in carrier.items()}, **(env or {})}


class _Monitored:
    """One process while it runs."""

    def __init__(self, recorder: EvidenceRecorder, words: list[str]) -> None:
        self._recorder = recorder
        self._words = words
        self._began = time.monotonic()

    def run(self, timeout: float | None, env: Mapping[str, str], cwd: str | Path | None) -> ProcessOutcome:
        try:
            process = subprocess.Popen(  # noqa: S603  # the user's own command
                self._words,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,  # so that its children can be ended with it
            )
        except (OSError, IndexError) as error:
            self._recorder.record_event("process_start", command=self._words)
            return self._ended(_NOT_FOUND, {"error": "command_not_found", "message": str(error)})
        readers = [self._reader(process.stdout, "stdout"), self._reader(process.stderr, "stderr")]
        try:  # from here on: a signal may interrupt anything, and the process must not outlive us
            self._recorder.record_event("process_start", command=self._words, pid=process.pid)
            for reader in readers:
                reader.start()
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            _end(process)
            _drain(readers)
            return self._ended(None, {"error": "timeout", "timeout": timeout}, timed_out=True)
        except BaseException:
            _end(process)
            _drain(readers)
            self._ended(None, {"error": "interrupted"})
            raise
        _drain(readers)
        return self._ended(code, None if code == 0 else {"error": "process_exit", "exit_code": code})

    def _reader(self, stream: IO[bytes] | None, name: str) -> threading.Thread:
        return threading.Thread(target=self._read, args=(stream, name), daemon=True, name=f"critiqor-{name}")

    def _read(self, stream: Any, name: str) -> None:
        through = getattr(sys, name)
        rest = b""
        with stream:
            while chunk := stream.read1(_CHUNK):
                _pass_on(through, chunk)
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._line(line, name)
                if len(rest) > _LONGEST_LINE:
                    self._line(rest, name)
                    rest = b""
        if rest:
            self._line(rest, name)

    def _line(self, line: bytes, stream: str) -> None:
        text = line.decode("utf-8", "replace").removesuffix("\r")
        told = _event_of(text)
        if told is None:
            self._recorder.record_event("process_output", stream=stream, text=text)
        else:
            self._recorder.record_given(told)

    def _ended(self, code: int | None, error: dict[str, Any] | None, *, timed_out: bool = False) -> ProcessOutcome:
        latency = time.monotonic() - self._began
        if error is not None:
            self._recorder.record_error(**error)
        self._recorder.record_event("process_end", command=self._words, exit_code=code, latency=latency)
        return ProcessOutcome(exit_code=code, latency=latency, timed_out=timed_out, recorder=self._recorder)


def _event_of(text: str) -> dict[str, Any] | None:
    """Return the event that a line of output is, or None when it is a line of output."""
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return None
    try:
        told = msgspec.json.decode(stripped)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None
    return told if is_object(told) and any(isinstance(told.get(name), str) for name in _NAMES) else None


def _pass_on(through: Any, chunk: bytes) -> None:
    with suppress(OSError, ValueError):  # our own reader went away; the evidence is kept all the same
        raw = getattr(through, "buffer", None)
        if raw is None:
            through.write(chunk.decode("utf-8", "replace"))
        else:
            raw.write(chunk)
        through.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children: kindly first, and after a while by force."""
    for send in (signal.SIGTERM, signal.SIGKILL):
        _signal_group(process, send)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
            return


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    kill: Callable[[int, int], None] = getattr(os, "killpg", os.kill)
    with suppress(ProcessLookupError, PermissionError):
        kill(process.pid, number)


def _drain(readers: Sequence[threading.Thread]) -> None:
    """Wait for what is still in the pipes; a grandchild that holds them open is not waited for."""
    deadline = time.monotonic() + _GRACE
    for reader in readers:
        if reader.ident is None:  # interrupted before it began
            continue
        reader.join(max(deadline - time.monotonic(), 0.0))
