"""The pages over the runs folder: a live list, and each run's report, made when it is asked for.

They show what agents said and did, so they are guarded as the metrics are: by the token or client certificates where
there are any, else by the name that was asked for. A web page elsewhere whose host name is made to lead to this machine
(DNS rebinding) comes under that name, and gets nothing.
"""

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qs

import msgspec

from analyzer.diagnosis import diagnose
from analyzer.errors import SessionFileError
from analyzer.report.html.index import index_assets, index_page
from analyzer.report.html.page import Around, run_page
from analyzer.report.json_form import encode_json
from analyzer.report.report import report_run
from analyzer.session.codec import read_session
from critiqor_otel.receiver.browsing import PREFIX, UiAnswer
from critiqor_otel.receiver.runs_list import RunsList
from critiqor_otel.spool.continuations import join_continuations
from critiqor_otel.spool.run_files import SESSION_FILE
from critiqor_otel.spool.verdicts import Rules

__all__ = ["Ui"]

_API = f"{PREFIX}/api/runs"
_RUN = f"{PREFIX}/runs/"
_HTML = b"text/html; charset=utf-8"
_JSON = b"application/json"
_TEXT = b"text/plain; charset=utf-8"
_KEPT = 4  # pages held, so that a reload costs nothing


class Ui:
    """Answers what browsers ask below `/ui`; the work is done in a thread of its own, beside the receiver's loop."""

    def __init__(self, runs: Path, *, rules: Rules, guarded: bool) -> None:
        """Take the folder of runs; `guarded`: who asks has shown the token, or a certificate, already."""
        self._runs = runs
        self._rules = rules
        self._guarded = guarded
        self._list = RunsList(runs)
        self._pages: OrderedDict[tuple[str, tuple[int, ...]], bytes] = OrderedDict()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ui")

    def close(self) -> None:
        """Finish the page at work, and make no more."""
        self._worker.shutdown(cancel_futures=True)

    async def answer(self, path: str, query: bytes, headers: Mapping[bytes, bytes]) -> UiAnswer:
        """Return the answer to a GET."""
        if not self._guarded and not _is_own_name(headers.get(b"host", b"")):
            return UiAnswer(403, _TEXT, b"Ask by address: http://127.0.0.1, or http://localhost.\n")
        if path in {"/", PREFIX}:
            return UiAnswer(308, _TEXT, b"", ((b"location", f"{PREFIX}/".encode()),))
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._made, path, query)

    def _made(self, path: str, query: bytes) -> UiAnswer:
        if path == f"{PREFIX}/":
            policy = index_assets(live=True).policy
            return UiAnswer(200, _HTML, index_page((), live="api/runs"), ((b"content-security-policy", _own(policy)),))
        if path == _API:
            rows = self._list.changed(_since(query))
            found = {"version": self._list.version, "rows": [msgspec.to_builtins(row) for row in rows]}
            return UiAnswer(200, _JSON, encode_json(found))
        name = path.removeprefix(_RUN)
        if path == name or not self._is_run(name):
            return UiAnswer(404, _TEXT, b"No such page. The runs are listed at /ui/.\n")
        return self._run(name)

    def _is_run(self, name: str) -> bool:
        if name not in self._list:
            self._list.changed(self._list.version)  # it may have come since
        return name in self._list

    def _run(self, name: str) -> UiAnswer:
        parts = sorted((self._runs / name / SESSION_FILE, *self._runs.glob(f"{name}~*/{SESSION_FILE}")))
        try:
            key = name, tuple(part.stat().st_mtime_ns for part in parts)
            page = self._pages.get(key)
            if page is None:
                page = self._pages[key] = self._page(parts)
        except (OSError, SessionFileError) as error:
            return UiAnswer(500, _TEXT, f"The session of this run can't be read: {error}\n".encode("utf-8", "replace"))
        self._pages.move_to_end(key)
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        return UiAnswer(200, _HTML, page, ((b"content-security-policy", b"frame-ancestors 'none'"),))

    def _page(self, parts: list[Path]) -> bytes:
        session = join_continuations([read_session(part.read_bytes()) for part in parts])[0]
        profile = self._rules.profile
        verdict = diagnose(session, profile=profile, options=self._rules.options)
        return run_page(report_run(verdict, session), session, profile=profile, around=Around(index="../"))


def _own(policy: str) -> bytes:
    return f"{policy}; frame-ancestors 'none'".encode()


def _since(query: bytes) -> int:
    given = parse_qs(query.decode("latin-1")).get("since", ["-1"])[0]
    return int(given) if given.lstrip("-").isdigit() and len(given) < 16 else -1  # noqa: PLR2004  # digits of a count


def _is_own_name(host: bytes) -> bool:
    """Return whether a Host header names this machine by an address or as localhost, which no DNS leads away."""
    name = host.decode("latin-1").strip().lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
