"""The report of a run as people use it: with a mouse, with a keyboard alone, in the dark, on a phone."""

import re
from pathlib import Path

import pytest
from browsing import grave_findings, opened, written_page
from playwright.sync_api import Browser, Page, expect

from analyzer.session.model import Event, Session

SELECTED = re.compile(r"\brow-active\b")
RELATED = re.compile(r"\brow-related\b")


def rows(page: Page) -> list[str]:
    return page.locator(".row .row-title").all_inner_texts()


def test_a_report_opens_from_a_file_without_errors_and_asks_for_nothing(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.mouse.wheel(0, 5000)

        assert (seen.errors, seen.asked_elsewhere, seen.dialogs) == ([], [], [])


def test_the_summary_says_the_verdict_the_failure_and_what_to_do(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        summary = seen.page.locator("#summary")

        expect(summary).to_contain_text("Unsafe for production")
        expect(summary).to_contain_text("Infinite tool loop")
        expect(summary).to_contain_text("What to do")
        expect(summary.get_by_role("img", name="Trust 49 of 100")).to_be_visible()


def test_the_timeline_shows_a_row_for_each_step_to_scale(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        bars = seen.page.locator(".bar-mark")
        first, last = bars.nth(1).bounding_box(), bars.last.bounding_box()

        assert rows(seen.page) == ["support_agent", *["fake-gpt-1", "search_docs"] * 5, "fake-gpt-1"]
        assert first is not None
        assert last is not None
        assert first["width"] > 5 * last["width"]  # 17.7 ms against 1.3 ms
        assert first["x"] < last["x"]


def test_what_is_typed_filters_the_steps(browser: Browser, retry_page: Path) -> None:
    with opened(browser, retry_page) as seen:
        seen.page.get_by_role("searchbox").fill("payload ok")

        expect(seen.page.locator(".shown")).to_have_text("1 of 12 steps")
        seen.page.get_by_role("searchbox").fill("nothing like it")
        expect(seen.page.get_by_text("No step passes the filter.")).to_be_visible()


def test_failed_steps_and_kinds_of_steps_can_be_chosen(browser: Browser, retry_page: Path) -> None:
    with opened(browser, retry_page) as seen:
        seen.page.get_by_role("button", name="Failed", exact=True).click()
        expect(seen.page.locator(".shown")).to_have_text("2 of 12 steps")

        seen.page.get_by_role("button", name="Failed", exact=True).click()
        seen.page.get_by_role("button", name="Model calls").click()
        expect(seen.page.locator(".shown")).to_have_text("8 of 12 steps")


def test_failed_steps_and_repeats_are_marked(browser: Browser, retry_page: Path) -> None:
    with opened(browser, retry_page) as seen:
        calls = seen.page.locator(".row.kind-tool")

        assert calls.locator(".sign-bad").count() == 2
        assert calls.locator(".sign-again").count() == 2


def test_a_click_on_an_event_shows_its_evidence_and_lights_up_its_failure(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        page = seen.page
        page.locator(".row.kind-tool").nth(1).click()

        expect(page.locator("#failure-0")).to_have_class(re.compile(r"\bcause-active\b"))
        expect(page.locator(".node-cause")).to_have_class(re.compile(r"\bnode-active\b"))
        expect(page.locator(".row-related")).to_have_count(5)
        panel = page.locator("#panel")
        expect(panel.get_by_role("heading", name="search_docs")).to_be_visible()
        expect(panel).to_contain_text("Infinite tool loop")
        expect(panel).to_contain_text('"query": "refund policy"')


def test_a_click_on_a_failure_lights_up_its_events(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.locator(".node-cause").click()

        expect(seen.page.locator(".row-related")).to_have_count(5)
        expect(seen.page.locator(".node-related")).to_have_count(5)
        expect(seen.page.locator(".row").nth(2)).to_have_class(RELATED)


def test_an_event_id_of_a_failure_leads_to_the_event(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        chip = seen.page.locator("#failure-0 .chip").nth(2)
        event_id = chip.inner_text()
        chip.click()

        expect(seen.page.locator("#panel .event-cited")).to_contain_text(event_id)
        expect(seen.page.locator(".row-active")).to_have_attribute("data-step", "6")


def test_the_panel_pairs_a_call_with_its_output_and_links_spans_to_jaeger(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.locator(".row.kind-tool").first.click()
        panel = seen.page.locator("#panel")

        assert panel.locator("h3").all_text_contents() == ["Callevidence", "Output"]
        expect(panel.locator("details summary")).to_have_count(2)
        link = panel.get_by_role("link", name="Open in Jaeger").first
        assert re.fullmatch(
            r"http://localhost:16686/trace/[0-9a-f]{32}\?uiFind=[0-9a-f]{16}", link.get_attribute("href") or ""
        )


def test_ids_can_be_copied(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page, permissions=["clipboard-read", "clipboard-write"]) as seen:
        seen.page.locator(".row.kind-tool").first.click()
        button = seen.page.locator("#panel").get_by_role("button", name="copy the span id").first
        button.click()

        expect(seen.page.locator("#said")).to_have_text(re.compile("copied [0-9a-f]{16}"))


def test_evidence_is_walked_through_from_the_panel(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.locator("#failure-0 .chip").first.click()
        seen.page.locator("#panel").get_by_role("button", name="next").click()

        expect(seen.page.locator("#panel")).to_contain_text("evidence 2 of 5")


def test_the_graph_starts_with_what_matters_and_opens_on_demand(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        nodes = seen.page.locator("#graph .node")
        expect(nodes).to_have_count(7)  # where it began, five calls and the failure
        seen.page.locator("#graph .node-more").first.click()

        expect(nodes).not_to_have_count(7)
        seen.page.get_by_role("button", name="Only what matters").click()
        expect(nodes).to_have_count(7)


def test_the_timeline_zooms_with_buttons_and_by_dragging(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        page = seen.page
        whole = page.get_by_role("button", name="Whole run")
        expect(whole).to_be_disabled()
        page.get_by_role("button", name="Zoom in", exact=True).click()
        expect(whole).to_be_enabled()
        whole.click()
        expect(whole).to_be_disabled()

        page.locator("#timeline").scroll_into_view_if_needed()
        box = page.locator(".overview").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 20, steps=5)
        page.mouse.up()
        expect(whole).to_be_enabled()


def test_a_keyboard_alone_does_it_all(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        page = seen.page
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the report")).to_be_focused()
        for _ in range(60):
            if page.evaluate("document.activeElement.classList.contains('rows')"):
                break
            page.keyboard.press("Tab")
        expect(page.get_by_role("treegrid")).to_be_focused()

        for _ in range(3):
            page.keyboard.press("ArrowDown")
        expect(page.locator(".row").nth(2)).to_have_class(SELECTED)
        assert page.get_by_role("treegrid").get_attribute("aria-activedescendant") == "row-2"
        page.keyboard.press("Enter")
        expect(page.locator("#panel h2")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#panel")).to_be_hidden()
        expect(page.get_by_role("treegrid")).to_be_focused()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowLeft")
        assert rows(page) == ["support_agent"]
        page.keyboard.press("ArrowRight")
        assert len(rows(page)) == 12


def test_keys_walk_evidence_filter_and_explain_themselves(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        page = seen.page
        page.keyboard.press("n")
        page.keyboard.press("n")
        expect(page.locator("#panel")).to_contain_text("evidence 2 of 5")
        page.keyboard.press("p")
        expect(page.locator("#panel")).to_contain_text("evidence 1 of 5")
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.get_by_role("searchbox").blur()
        page.keyboard.press("?")

        expect(page.get_by_role("dialog")).to_contain_text("zoom in, out, whole run")


def test_nodes_of_the_graph_are_pressed_with_a_key(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.locator(".node-cause").focus()
        seen.page.keyboard.press("Enter")

        expect(seen.page.locator(".row-related")).to_have_count(5)


def test_dark_follows_the_system_until_one_chooses(browser: Browser, loop_page: Path) -> None:
    def background(page: Page) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    with opened(browser, loop_page, color_scheme="dark") as seen:
        assert background(seen.page) == "rgb(13, 16, 21)"
        seen.page.get_by_role("button", name="Switch between light and dark").click()
        assert background(seen.page) == "rgb(245, 246, 248)"
        seen.page.reload()
        seen.page.wait_for_selector("html[data-ready=yes]")
        assert background(seen.page) == "rgb(245, 246, 248)"
        assert seen.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1360, 390])
def test_axe_finds_nothing_serious(browser: Browser, loop_page: Path, scheme: str, width: int) -> None:
    with opened(browser, loop_page, color_scheme=scheme, viewport={"width": width, "height": 900}) as seen:
        assert grave_findings(seen.page) == []
        seen.page.locator("#failure-0 .chip").first.click()
        seen.page.locator("#graph .node-more").first.click()
        assert grave_findings(seen.page) == []


def test_nothing_is_wider_than_a_phone(browser: Browser, retry_page: Path) -> None:
    with opened(browser, retry_page, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        seen.page.locator(".row").nth(3).tap()
        expect(seen.page.locator("#panel")).to_be_visible()
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_the_page_knows_shows_without_scripts(browser: Browser, loop_page: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(loop_page.as_uri())

        expect(page.locator("#failure-0")).to_contain_text("called 5 times")
        expect(page.locator("#timeline noscript p")).to_have_text("The timeline needs JavaScript.")
        expect(page.get_by_text("Loading …")).to_be_hidden()


def test_no_other_script_runs_in_the_page(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        ran = seen.page.evaluate("""() => {
            const script = document.createElement("script");
            try { script.textContent = "window.ran = true"; document.body.append(script); } catch { return "refused"; }
            return window.ran === true;
        }""")

        assert ran in {"refused", False}


def test_where_the_run_may_have_been_lost_is_told_and_marked(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        page = seen.page
        expect(page.locator(".node-root")).to_have_count(1)
        page.locator("#summary [data-root]").click()

        expect(page.locator(".row").nth(1)).to_have_class(SELECTED)
        expect(page.locator("#panel")).to_contain_text("Where it may have begun")


def test_a_filter_stays_when_it_hides_what_is_selected(browser: Browser, retry_page: Path) -> None:
    with opened(browser, retry_page) as seen:
        page = seen.page
        page.locator(".row.kind-model").first.click()
        page.get_by_role("button", name="Failed", exact=True).click()
        expect(page.locator(".shown")).to_have_text("2 of 12 steps")

        page.locator("#panel").get_by_role("button", name="support_agent").click()
        expect(page.locator(".shown")).to_have_text("2 of 12 steps")  # it is there: what failed lies in it
        page.keyboard.press("Escape")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".row-active")).to_be_visible()


def test_any_step_can_be_shown_in_the_graph_with_what_it_is_tied_to(browser: Browser, loop_page: Path) -> None:
    with opened(browser, loop_page) as seen:
        seen.page.locator(".row").last.click()
        seen.page.locator("#panel").get_by_role("button", name="show in the graph").click()

        expect(seen.page.locator('[data-node="11"]')).to_have_count(1)
        expect(seen.page.locator('[data-node="0"]')).to_have_count(1)  # the agent, in which it lies


def test_a_long_chain_is_opened_piece_by_piece(browser: Browser, tmp_path: Path) -> None:
    at = 1_700_000_000_000_000_000
    events = [
        Event(
            event_id=f"e{number}",
            event="tool_call",
            event_type="tool_call",
            tool_name="look",
            time_ns=at + number,
            payload={"input": {"q": 1}},
        )
        for number in range(40)
    ]
    with opened(browser, written_page(Session(run_id="again", events=tuple(events)), tmp_path)) as seen:
        nodes, more = seen.page.locator("#graph .node:not(.node-group)"), seen.page.locator("#graph .node-group")
        first = nodes.count()
        expect(more).to_contain_text("more steps")
        more.click()

        expect(nodes).to_have_count(first + 8)
        expect(more).to_contain_text("more steps")
