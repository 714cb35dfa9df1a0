"""A real Chromium for tests, and pages in it that tell what went wrong in them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from analyzer.diagnosis import diagnose
from analyzer.report.html.page import Around, run_page
from analyzer.report.report import report_run
from analyzer.session.model import Session
from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

__all__ = ["NO_CHROMIUM", "Watched", "chromium", "grave_findings", "opened", "session_in", "written_page"]

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NO_CHROMIUM = "there is no Chromium: apt-get install chromium, or name one in CHROMIUM"
_SERIOUS = frozenset(("serious", "critical"))


def chromium() -> str | None:
    """Return the path of a Chromium, None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def started() -> Iterator[Browser]:
    """Run a Chromium; where there is none, skip, or fail in CI (`CRITIQOR_BROWSER=required`)."""
    path = chromium()
    if path is None:
        if os.environ.get("CRITIQOR_BROWSER") == "required":
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


class Watched:
    """A page and what it did that it should not do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    @property
    def asked_elsewhere(self) -> list[str]:
        """What was asked for besides the page itself and what stands in it."""
        return [url for url in self.requests[1:] if not url.startswith("data:")]

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]")


@contextmanager
def opened(browser: Browser, place: Path | str, **settings: Any) -> Iterator[Watched]:
    """Open a file or an address in a new context."""
    with browser.new_context(**{"viewport": {"width": 1360, "height": 900}, **settings}) as context:
        watched = Watched(context.new_page())
        watched.open(place.as_uri() if isinstance(place, Path) else place)
        yield watched


def grave_findings(page: Page) -> list[str]:
    """Return what axe finds serious or critical."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in _SERIOUS
    ]


def session_in(place: Path) -> Session:
    """Return the one session of a file."""
    (session,) = runs_of(gather(read_paths([str(place)]))).sessions
    return session


def written_page(session: Session, folder: Path, **around: Any) -> Path:
    """Write the page of a session into a folder, and return its place."""
    place = folder / "run.html"
    place.write_bytes(run_page(report_run(diagnose(session), session), session, around=Around(**around)))
    return place
