"""What went wrong in this run, why, from which evidence, and how sure is that: the one entry to the analyzer."""

from analyzer.profile import Profile
from analyzer.session.model import Session
from analyzer.verdict import Diagnosis

__all__ = ["Diagnosis", "Profile", "diagnose"]


def diagnose(session: Session, *, profile: Profile = Profile.STANDARD) -> Diagnosis:
    """Return the verdict on a session by the rules of a profile; the same session gives the same verdict."""
    _ = profile
    return Diagnosis(run_id=session.run_id, trace_ids=session.trace_ids, agent=session.agent, notes=session.notes)
