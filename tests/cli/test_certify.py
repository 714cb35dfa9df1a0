import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command import CLEAN, LOOP, Critiqor
from evaluated import fill_history

from analyzer.evaluation import ReliabilityCertification
from analyzer.evaluation.words import CERTIFICATION_LEVELS, CertificationLevel
from analyzer.report.badge import badge_svg


def test_a_clean_run_is_certified_and_a_looping_one_is_not(critiqor: Critiqor) -> None:
    clean, looping = critiqor("certify", CLEAN), critiqor("certify", LOOP)

    assert (clean.code, looping.code) == (0, 1)
    assert "level                      platinum" in clean.out
    assert ["level", "none"] in [line.split() for line in looping.out.splitlines()]
    assert "the percentile is 100" in clean.err


def test_the_percentile_is_that_among_the_history(critiqor: Critiqor, tmp_path: Path) -> None:
    fill_history(tmp_path / "runs", 100, 90, 90)
    fill_history(tmp_path / "other", 93)

    done = json.loads(critiqor("certify", "other/history.sqlite", "--history", "runs", "--format", "json").out)

    assert (done["percentile"], done["certification_level"]) == (67, "bronze")


def test_the_badge_comes_as_markdown_and_as_svg(critiqor: Critiqor, tmp_path: Path) -> None:
    markdown = critiqor("certify", CLEAN, "--format", "markdown").out
    critiqor("certify", CLEAN, "--format", "svg", "--output", "badge.svg")

    badge = ET.fromstring((tmp_path / "badge.svg").read_text())  # noqa: S314  # our own badge
    assert markdown.startswith("![Critiqor: platinum Top 1%](https://img.shields.io/badge/")
    assert "".join(badge.itertext()) == "Critiqor: platinum Top 1%Critiqorplatinum Top 1%"
    assert "http" not in (tmp_path / "badge.svg").read_text().replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("level", CERTIFICATION_LEVELS)
def test_each_level_has_a_badge_of_its_colour(level: CertificationLevel) -> None:
    badge = badge_svg(ReliabilityCertification(level, 90, 90, "", {}))

    fills = [found.get("fill") for found in ET.fromstring(badge).iter("{http://www.w3.org/2000/svg}rect")]  # noqa: S314
    assert fills[0] == "#555"
    assert fills[1] in {"#9f9f9f", "#cd7f32", "#8a8d91", "#b8860b", "blueviolet"}


def test_a_verdict_is_spelled_as_check_spells_it(critiqor: Critiqor) -> None:
    certified = critiqor("certify", LOOP).out
    checked = critiqor("check", LOOP).out

    assert "unsafe for production" in certified
    assert "unsafe for production" in checked
