from dataclasses import replace

from analyzer.cause import FailureCause, Severity
from analyzer.report.clusters import Clusters
from analyzer.report.report import RunReport
from analyzer.verdict import Diagnosis


def run(name: str, fingerprint: str, severity: Severity = Severity.HIGH) -> RunReport:
    cause = FailureCause(
        type=name, severity=severity, impact=-9, description=f"{name} happened", fingerprint=fingerprint
    )
    return RunReport(diagnosis=Diagnosis(run_id="run"), primary=cause, exhibits=())


def lines(*runs: RunReport) -> list[str]:
    clusters = Clusters()
    for one in runs:
        clusters.add(one)
    return list(clusters.lines())


def test_the_failure_that_most_runs_share_comes_first() -> None:
    clean = RunReport(diagnosis=Diagnosis(run_id="clean"), primary=None, exhibits=())

    told = lines(run("a", "1"), run("b", "2"), run("b", "2"), run("b", "2"), run("a", "1"), clean, run("c", "3"))

    assert told == ["3 of 7 runs: b (high). b happened", "2 of 7 runs: a (high). a happened"]


def test_failures_of_one_type_and_two_fingerprints_are_two_matters() -> None:
    assert lines(run("a", "1"), run("a", "2")) == []


def test_a_failure_of_severity_low_is_no_matter() -> None:
    assert lines(run("a", "1", Severity.LOW), run("a", "1", Severity.LOW)) == []


def test_a_hostile_description_stays_on_its_line() -> None:
    hostile = run("a", "1")
    assert hostile.primary is not None
    cause = replace(hostile.primary, description="x\x1b[2J\r\ny")
    twice = RunReport(diagnosis=hostile.diagnosis, primary=cause, exhibits=())

    (line,) = lines(twice, twice)

    assert "\x1b" not in line
    assert "\n" not in line
