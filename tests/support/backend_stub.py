"""A back end that answers as its API is documented, out of traces that a test gives it."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["Answering", "Query", "Reply", "answering"]

Query = Mapping[str, list[str]]
Reply = tuple[int, Any]
"""A status, and a JSON document or the bytes themselves."""


class Answering:
    """What was asked so far, and where."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Query]] = []
        self.headers: list[dict[str, str]] = []
        self.port = 0


@contextmanager
def answering(answer: Callable[[str, Query], Reply]) -> Iterator[Answering]:
    """Answer questions on a free port while the block runs."""
    found = Answering()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query)
            found.asked.append((parts.path, query))
            found.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, document = answer(parts.path, query)
            body = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response_only(status)
            if status in {301, 302}:
                self.send_header("location", "http://elsewhere.example/")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
