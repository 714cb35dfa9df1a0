"""The agent's side of the process that makes session files of its spans: starting it, handing on, waiting for it.

What goes over its standard input: frames of four bytes of length and the content. The first is the configuration as
JSON, each that follows an OTLP request; an empty one asks for a flush, which a line on its standard output answers: how
many spans are lost.
"""

import select
import subprocess
import sys
import threading
from contextlib import suppress

import msgspec

from critiqor_otel.emit.session_writer import WriterConfig

__all__ = ["LENGTH", "HelperProcess"]

LENGTH = 4
"""Bytes of a frame's length, the most significant first."""

_MAIN = "from critiqor_otel.emit.session_helper import main; main()"


class HelperProcess:
    """A process that writes session files. It outlives this one by as long as writing takes."""

    def __init__(self, config: WriterConfig) -> None:
        """Start it.

        Raises:
            OSError: no process can be started here.
        """
        # Isolated, so that what instruments the agent by its environment does not instrument this one.
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter
            [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}; {_MAIN}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the agent's
        )
        self.send(msgspec.json.encode(config))

    def send(self, content: bytes) -> None:
        """Hand on a request; it waits while the process is busy with earlier ones.

        Raises:
            OSError: the process is gone.
        """
        if self._process.stdin is None or self._process.stdin.closed:
            raise BrokenPipeError("the process that writes sessions is gone")
        self._process.stdin.write(len(content).to_bytes(LENGTH, "big") + content)
        self._process.stdin.flush()

    def flush(self, seconds: float) -> int | None:
        """Have it write what is over, and return how many spans are lost; None when it takes longer.

        Raises:
            OSError: the process is gone.
        """
        self.send(b"")
        answers = self._process.stdout
        if answers is None or not select.select([answers], [], [], seconds)[0]:
            return None
        line = answers.readline()
        if not line:
            raise BrokenPipeError("the process that writes sessions is gone")
        return int(line)

    def close(self, seconds: float) -> bool:
        """Let it write all and end; return False when it is still at it, which it then finishes alone."""
        if self._process.stdin is not None:
            with suppress(OSError):  # it is gone, with what was on the way
                self._process.stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            threading.Thread(target=self._process.wait, daemon=True, name="critiqor-helper").start()
            return False
        finally:
            if self._process.stdout is not None:
                self._process.stdout.close()
        return True
