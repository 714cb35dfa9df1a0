"""What every form of a report is made of: the verdicts, with the evidence behind each run's main failure."""

from collections.abc import Iterable, Mapping

import msgspec

from analyzer.cause import FailureCause, Severity
from analyzer.report.exhibits import Exhibit, exhibits
from analyzer.session.model import Note, Session
from analyzer.verdict import Diagnosis

__all__ = ["SCHEMA_VERSION", "Look", "Report", "RunReport", "report_run"]

SCHEMA_VERSION = "critiqor.diagnosis.v1"


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    """One run's verdict and what shows its main failure."""

    diagnosis: Diagnosis
    primary: FailureCause | None
    """The failure that weighs most; None in a run without failures."""
    exhibits: tuple[Exhibit, ...]
    """The primary failure's evidence, the primary event first."""
    files: tuple[str, ...] = ()
    """The files it came from, sorted, as far as they are known."""
    among_many: bool = False
    """Whether more than one file was read, so that it is worth telling which."""
    known: Mapping[str, str] = {}
    """The failures that a baseline knows: fingerprint → the reason that it gives."""
    has_baseline: bool = False
    """Whether there is a baseline to compare with at all."""

    def is_known(self, cause: FailureCause) -> bool:
        """Tell whether a baseline knows the failure."""
        return bool(cause.fingerprint) and cause.fingerprint in self.known

    def fails(self, cause: FailureCause, least: Severity | None) -> bool:
        """Tell whether the failure makes the command fail: it is at least so severe (None: none is), and new."""
        return least is not None and cause.severity.rank >= least.rank and not self.is_known(cause)

    @property
    def grave(self) -> FailureCause | None:
        """The failure that weighs most, unless it is one of severity low."""
        return None if self.primary is None or self.primary.severity is Severity.LOW else self.primary


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What is reported of one input."""

    runs: Iterable[RunReport]
    """In order of run id; read once, so that a million runs need not stand in memory."""
    skipped: tuple[Note, ...] = ()
    """Inputs that could not be read, or hold no evidence of an agent, with their places."""
    notes: tuple[Note, ...] = ()
    """What else was found odd in the input."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """How a report is to be shown."""

    width: int | None = None
    """Columns of the terminal; None where lines may be of any length."""
    colour: bool = False
    fail_on: Severity | None = Severity.HIGH
    """The least severity that makes the command fail; None where none does."""


def report_run(diagnosis: Diagnosis, session: Session) -> RunReport:
    """Put a verdict together with the evidence of its main failure."""
    primary = _primary(diagnosis)
    shown = exhibits(session, primary.evidence) if primary is not None else ()
    return RunReport(diagnosis=diagnosis, primary=primary, exhibits=shown)


def _primary(diagnosis: Diagnosis) -> FailureCause | None:
    named = diagnosis.primary_diagnosis
    same_type = [cause for cause in diagnosis.failure_causes if cause.type == named.root_cause_failure_type]
    exact = [cause for cause in same_type if cause.description == named.description]
    return next(iter(exact or same_type), None)
