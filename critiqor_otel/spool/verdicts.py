"""A verdict on each run as it is sealed, beside its session; a continuation is judged together with its run."""

from pathlib import Path

import msgspec

from analyzer.diagnosis import Profile, diagnose
from analyzer.options import Options
from analyzer.report import words
from analyzer.report.json_form import run_document
from analyzer.session.codec import read_session
from analyzer.session.model import Session
from analyzer.verdict import Diagnosis
from critiqor_otel.spool.continuations import join_continuations
from critiqor_otel.spool.run_files import DIAGNOSIS_FILE, SESSION_FILE
from critiqor_otel.spool.run_folder import folder_of
from critiqor_otel.spool.whole_file import whole_file

__all__ = ["Rules", "judge", "verdict_line", "whole_run"]


class Rules(msgspec.Struct, frozen=True):
    """What verdicts follow."""

    profile: Profile
    options: Options = Options()


def judge(session: Session, *, runs: Path, rules: Rules) -> Diagnosis:
    """Diagnose a sealed session, write the verdict beside the run it belongs to, and return it.

    Raises:
        OutputError: it cannot be written.
        SessionFileError: an earlier part of the run cannot be read.
    """
    whole = whole_run(session, runs=runs)
    verdict = diagnose(whole, profile=rules.profile, options=rules.options)
    with whole_file(runs / folder_of(whole.run_id) / DIAGNOSIS_FILE) as file:
        file.write(run_document(verdict))
    return verdict


def verdict_line(verdict: Diagnosis) -> str:
    """Return the verdict in one line."""
    worst = max(verdict.failure_causes, key=lambda cause: words.SEVERITY_ORDER.index(cause.severity), default=None)
    readiness = words.READINESS[verdict.readiness_level]
    return (
        f"{verdict.run_id}  {words.agent(verdict)}  trust {words.trust(verdict)}  {readiness}  {words.failure(worst)}"
    )


def whole_run(session: Session, *, runs: Path) -> Session:
    """Return the run that a sealed session belongs to: itself, or with what it carries on and all that came later.

    Raises:
        SessionFileError: an earlier part of the run cannot be read.
    """
    if session.continues is None:
        return session
    folder = folder_of(session.continues)
    parts = sorted((runs / folder, *runs.glob(f"{folder}~*")))
    sessions = [read_session((part / SESSION_FILE).read_bytes()) for part in parts if (part / SESSION_FILE).exists()]
    return join_continuations(sessions)[0]
