"""A receiver of OTLP/HTTP that answers as a test tells it to, and keeps what it was sent."""

import gzip
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from critiqor_otel.decode.otlp_protobuf import decode_traces
from critiqor_otel.span import Span

__all__ = ["Answer", "Sink", "taken", "too_large_above"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What to answer a request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    wait: threading.Event | None = None
    """Answer only when this is set."""


def taken(_: bytes) -> Answer:
    """Take everything."""
    return Answer()


def too_large_above(limit: int) -> Callable[[bytes], Answer]:
    """Refuse bodies of more bytes."""
    return lambda body: Answer(413, b"too large") if len(body) > limit else Answer()


class Sink:
    """What came, and what is answered: the answers given, one a request, then the rule."""

    def __init__(self, *answers: Answer, rule: Callable[[bytes], Answer] = taken) -> None:
        """Begin with nothing received."""
        self.answers = list(answers)
        self.rule = rule
        self.bodies: list[bytes] = []
        self.taken: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.url = ""

    @property
    def spans(self) -> list[Span]:
        """The spans of the requests that were taken."""
        return [span for body in self.taken for span in decode_traces(body).spans]

    @contextmanager
    def running(self) -> Iterator["Sink"]:
        """Listen on a free port while the block runs."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                packing = self.headers.get("content-encoding")
                body = gzip.decompress(body) if packing == "gzip" else body
                body = zlib.decompress(body) if packing == "deflate" else body
                sink.bodies.append(body)
                sink.paths.append(self.path)
                sink.headers.append({name.lower(): value for name, value in self.headers.items()})
                answer = sink.answers.pop(0) if sink.answers else sink.rule(body)
                if answer.wait is not None:
                    answer.wait.wait(30)
                if 200 <= answer.status < 300:
                    sink.taken.append(body)
                try:
                    self.send_response_only(answer.status)
                    for name, value in {"content-length": str(len(answer.body)), **answer.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(answer.body)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        return Handler
