"""The list of runs: of a folder of reports, and live over the runs of a receiver."""

from pathlib import Path

from browsing import grave_findings, opened
from command import CAPTURES, run_command
from playwright.sync_api import Browser, Page, expect
from receiving import post, receiving

from analyzer.profile import Profile
from critiqor_otel.spool.open_sessions import Patience
from critiqor_otel.spool.owner import OwnerSettings

_QUICK = OwnerSettings(
    patience=Patience(after_root_ns=1, idle_ns=1, longest_ns=3_600_000_000_000, most_spans=100_000),
    judged_by=Profile.STANDARD,
)


def runs(page: Page) -> list[str]:
    return page.locator(".runs tbody tr td:nth-child(2)").all_inner_texts()


def reports(folder: Path) -> Path:
    outcome = run_command(
        folder, "diagnose", CAPTURES / "pydantic_ai", "--format", "html", "--output", "report", "--fail-on", "never"
    )
    assert outcome.code == 0
    return folder / "report" / "index.html"


def test_the_list_filters_sorts_and_leads_to_reports(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, reports(tmp_path)) as seen:
        page = seen.page
        everything = runs(page)
        assert len(everything) == 5

        page.get_by_role("button", name="Trust", exact=True).click()
        trust = [int(text) for text in page.locator(".runs .trust").all_inner_texts()]
        assert trust == sorted(trust)
        page.get_by_role("button", name="Unsafe for production").click()
        assert 0 < len(runs(page)) < 5
        page.get_by_role("button", name="Unsafe for production").click()
        page.get_by_role("searchbox").fill("infinite")
        expect(page.locator(".runs tbody tr").first).to_contain_text("Infinite tool loop")
        chosen = runs(page)[0]

        page.locator(".runs tbody a").first.click()
        page.wait_for_selector("html[data-ready=yes]")
        expect(page.locator(".run-id")).to_have_text(chosen)
        page.get_by_role("link", name="critiqor").click()
        page.wait_for_selector(".runs")
        assert seen.errors == []


def test_axe_finds_nothing_serious_in_the_list(browser: Browser, tmp_path: Path) -> None:
    place = reports(tmp_path)
    for scheme in ("light", "dark"):
        with opened(browser, place, color_scheme=scheme) as seen:
            assert grave_findings(seen.page) == []


def test_a_run_appears_in_the_live_list_when_it_seals(browser: Browser, tmp_path: Path) -> None:
    with receiving(tmp_path / "runs", ui=True, sessions=_QUICK) as receiver:
        assert receiver.ui_address is not None
        with opened(browser, receiver.ui_address) as seen:
            page = seen.page
            expect(page.get_by_text("No run is sealed yet.")).to_be_visible()

            capture = CAPTURES / "pydantic_ai" / "repeat_identical_calls.otlp.pb"
            assert post(receiver, capture.read_bytes()).status == 200
            expect(page.locator(".runs tbody tr")).to_contain_text("Infinite tool loop", timeout=20_000)
            expect(page.locator(".live")).to_have_text("live")
            page.locator(".runs tbody a").click()
            page.wait_for_selector("html[data-ready=yes]")
            expect(page.locator("#summary")).to_contain_text("Unsafe for production")
            assert page.locator(".row").count() == 12
            page.get_by_role("link", name="critiqor").click()
            expect(page.get_by_role("heading", name="Runs")).to_be_visible()

            assert seen.errors == []
            assert all(url.startswith(receiver.ui_address) for url in seen.asked_elsewhere)


def test_a_browser_is_asked_for_the_token(browser: Browser, tmp_path: Path) -> None:
    with receiving(tmp_path / "runs", ui=True, token="secret") as receiver:  # noqa: S106  # of this test alone
        assert receiver.ui_address is not None
        with opened(browser, receiver.ui_address, http_credentials={"username": "any", "password": "secret"}) as seen:
            expect(seen.page.get_by_role("heading", name="Runs")).to_be_visible()
        answer = post(receiver, b"", None, path="/ui/", method="GET")

        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Basic ")
