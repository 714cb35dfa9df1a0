"""`docs/configuration.md` names every setting, and what it shows is read. `pytest --update-golden` writes its table."""

import re
from pathlib import Path

import pytest
from command import LOOP, run_command
from settings_table import keys, table

from critiqor_otel.cli.configuration import read_options, read_prices

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"
TABLE = re.compile(r"(?<=\|---\|---\|---\|---\|\n).*?(?=<!-- end -->)", re.DOTALL)


def blocks() -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_table_is_that_of_the_settings(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        PAGE.write_text(TABLE.sub(lambda _: table(), PAGE.read_text()))

    found = TABLE.search(PAGE.read_text())
    assert found is not None
    assert found[0] == table()
    assert keys()


def test_what_the_page_shows_is_read(tmp_path: Path) -> None:
    settings, prices = blocks()
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "prices.toml").write_text(prices)

    options = read_options(None, start=tmp_path)

    assert (options.token_budget, options.windows["house-model-*"]) == (200_000, 32_768)
    assert options.prices == read_prices(tmp_path / "prices.toml")


def test_the_error_that_the_page_shows_is_given(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.critiqor]\ntokn_budget = 5\n")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "loop.otlp.jsonl").write_bytes(LOOP.read_bytes())

    done = run_command(tmp_path, "diagnose", "traces/")

    shown = re.search(r"^Error: (.*)$", PAGE.read_text(), re.MULTILINE)
    assert shown is not None
    assert done.code == 2
    assert shown[1] in done.err.replace(f"{tmp_path.resolve()}/", "")
