"""`diagnose --format html`: a file for one run, a folder with an index for several."""

import re
from pathlib import Path

from command import CAPTURES, CLEAN, LOOP, Critiqor


def links(page: Path) -> list[str]:
    return re.findall(r'<td><a href="([^"]+)">', page.read_text())


def test_one_run_goes_to_one_file(critiqor: Critiqor, tmp_path: Path) -> None:
    outcome = critiqor("diagnose", LOOP, "--format", "html", "--output", "report.html")

    assert outcome.code == 1
    assert "Unsafe for production" in (tmp_path / "report.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_one_run_goes_to_standard_output(critiqor: Critiqor) -> None:
    outcome = critiqor("diagnose", LOOP, "--format", "html")

    assert outcome.out.startswith("<!DOCTYPE html>")
    assert outcome.out.rstrip().endswith("</html>")


def test_runs_go_to_a_folder_with_an_index_that_leads_to_each(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("diagnose", LOOP, CLEAN, "--format", "html", "--output", "reports")

    found = links(tmp_path / "reports" / "index.html")
    assert len(found) == 2
    for link in found:
        page = (tmp_path / "reports" / link).read_text()
        assert 'href="../index.html"' in page


def test_several_runs_to_one_file_have_their_pages_beside_it(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("diagnose", LOOP, CLEAN, "--format", "html", "--output", "all.html")

    found = links(tmp_path / "all.html")
    assert [link.partition("/")[0] for link in found] == ["all-runs", "all-runs"]
    assert all('href="../all.html"' in (tmp_path / link).read_text() for link in found)


def test_several_runs_on_standard_output_are_a_list_that_says_where_the_pages_would_be(critiqor: Critiqor) -> None:
    outcome = critiqor("diagnose", LOOP, CLEAN, "--format", "html")

    assert outcome.out.startswith("<!DOCTYPE html>")
    assert "<td><a " not in outcome.out
    assert "--output" in outcome.err


def test_spans_are_linked_to_the_jaeger_that_is_named(critiqor: Critiqor) -> None:
    outcome = critiqor("diagnose", LOOP, "--format", "html", "--jaeger-url", "http://jaeger:16686/")

    assert re.search(r'href="http://jaeger:16686/trace/[0-9a-f]{32}"', outcome.out)


def test_what_is_no_address_of_a_jaeger_is_refused(critiqor: Critiqor) -> None:
    outcome = critiqor("diagnose", LOOP, "--format", "html", "--jaeger-url", "javascript:alert(1)")

    assert outcome.code == 2
    assert "is no address" in outcome.err


def test_a_run_id_never_leaves_the_folder(critiqor: Critiqor, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number, run_id in enumerate(("../../up", "a/b", "index")):
        text = f'{{"schema_version": "critiqor.session.v1", "run_id": "{run_id}", "events": [{{"event": "plan"}}]}}'
        (tmp_path / "in" / f"{number}.json").write_text(text)

    critiqor("diagnose", "in", "--format", "html", "--output", "out")

    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.html")}
    assert len(written) == 4
    assert all(name.startswith("out/") for name in written)


def test_every_capture_has_a_page(critiqor: Critiqor, tmp_path: Path) -> None:
    critiqor("diagnose", CAPTURES, "--format", "html", "--output", "out", "--fail-on", "never", "--quiet")

    pages = list((tmp_path / "out" / "runs").glob("*.html"))
    assert len(pages) > 50
    assert all(page.stat().st_size < 2_000_000 for page in pages)
