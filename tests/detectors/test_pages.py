"""The page of each failure type: its headings, its example, and its place in the list."""

import importlib
import json
import re
from pathlib import Path

import pytest
from flat_sessions import session_of

import analyzer.detectors
from analyzer.detectors.detector import Detector, Dimension
from analyzer.detectors.registry import ALL
from analyzer.diagnosis import Profile, diagnose

HEADINGS = ["What it does", "Why is this bad", "Example", "How to fix", "Known limits"]
# The failure types of critiqor.session.v1; the others are our own.
DOCUMENTED = (
    "infinite_tool_loop",
    "memory_degradation",
    "ignoring_tool_outputs",
    "context_pollution",
    "cost_explosion",
    "skill_failure",
)
EACH = pytest.mark.parametrize("detector", ALL, ids=lambda detector: detector.failure_type)


def page_of(detector: Detector) -> str:
    return importlib.import_module(f"analyzer.detectors.{detector.failure_type}").__doc__ or ""


@EACH
def test_a_page_has_its_headings(detector: Detector) -> None:
    assert re.findall(r"^## (.+)$", page_of(detector), re.MULTILINE) == HEADINGS


@EACH
def test_the_example_of_a_page_is_found(detector: Detector) -> None:
    (example,) = re.findall(r"^## Example\n.*?^```json\n(.*?)^```$", page_of(detector), re.MULTILINE | re.DOTALL)

    causes = diagnose(session_of(*json.loads(example))).failure_causes

    assert detector.failure_type in [cause.type for cause in causes if cause.severity != "low"]


@EACH
def test_a_detector_judges_by_the_profiles_that_know_its_type(detector: Detector) -> None:
    documented = {Profile.CRITIQOR_V1} if detector.failure_type in DOCUMENTED else set[Profile]()

    assert set(detector.find) == {Profile.STANDARD, *documented}


def test_every_module_of_the_folder_is_in_the_list() -> None:
    folder = Path(analyzer.detectors.__path__[0])
    modules = {path.stem for path in folder.glob("*.py")} - {
        "__init__",
        "detector",
        "failing_calls",
        "pages",
        "registry",
    }

    assert modules == {detector.failure_type for detector in ALL}


def test_every_dimension_has_a_detector() -> None:
    assert [dimension for dimension in Dimension if dimension not in {detector.dimension for detector in ALL}] == []
