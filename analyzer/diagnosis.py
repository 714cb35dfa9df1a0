"""What went wrong in this run, why, from which evidence, and how sure is that: the one entry to the analyzer."""

from analyzer.bulk import bulk_work
from analyzer.causality.build import build_graph
from analyzer.causality.decisive import RunRoots, find_roots
from analyzer.causality.explain import NO_FAILURE, explain
from analyzer.causality.graph import RunGraph
from analyzer.causality.paths import path_to
from analyzer.causality.roots import failures_of, ranked
from analyzer.causality.scene import Failure, Scene
from analyzer.cause import FailureCause
from analyzer.cost import analyse_cost
from analyzer.detectors.detector import Detector
from analyzer.detectors.registry import ALL
from analyzer.errors import DetectorError
from analyzer.options import Options
from analyzer.profile import Profile
from analyzer.scoring import score
from analyzer.session.model import Note, Session
from analyzer.summary import evidence_level, measure, summarise, unknown_usage
from analyzer.timeline.index import Timeline, build_timeline
from analyzer.verdict import Diagnosis, PrimaryDiagnosis

__all__ = ["Diagnosis", "Profile", "diagnose", "find_causes"]

_NO_OPTIONS = Options()


def diagnose(
    session: Session,
    *,
    profile: Profile = Profile.STANDARD,
    options: Options = _NO_OPTIONS,
    detectors: tuple[Detector, ...] = ALL,
) -> Diagnosis:
    """Return the verdict on a session by the rules of a profile; the same session gives the same verdict.

    A detector that fails leaves a note, and the others go on.
    """
    with bulk_work():
        timeline = build_timeline(session, profile)
        causes, notes = find_causes(timeline, detectors, profile=profile, options=options)
        failures = failures_of(causes, profile, timeline.position_of)
        scene = Scene(timeline, failures)
        graph = build_graph(scene, profile, without=() if options.precedes else ("precedes",))
        summary = summarise(timeline, profile)
        result = score(timeline, causes, profile)
        primary = next(iter(ranked(failures, profile)), None)
        roots = find_roots(scene) if profile is Profile.STANDARD else RunRoots()
        return Diagnosis(
            run_id=session.run_id,
            trace_ids=session.trace_ids,
            agent=session.agent,
            status=timeline.status,
            trust_score=result.trust,
            readiness_level=result.readiness,
            evidence_level=evidence_level(timeline, profile),
            scores=result.dimensions,
            failure_causes=causes,
            primary_diagnosis=_primary(primary, _chain(timeline, primary, graph, roots, profile)),
            causal_graph=graph,
            roots=roots,
            cost_analysis=analyse_cost(timeline, causes, profile, options.prices),
            runtime_metrics=measure(timeline, summary),
            evidence_summary=summary,
            notes=(
                *(*session.notes, *timeline.notes, *unknown_usage(timeline, profile)),
                *(timeline.provenance.notes if profile is Profile.STANDARD else ()),
                *notes,
            ),
        )


def find_causes(
    timeline: Timeline, detectors: tuple[Detector, ...], *, profile: Profile, options: Options = _NO_OPTIONS
) -> tuple[tuple[FailureCause, ...], list[Note]]:
    """Return what the detectors find, in their order, and a note for each detector that failed."""
    causes: list[FailureCause] = []
    notes: list[Note] = []
    for detector in detectors:
        try:
            causes += _run(detector, timeline, profile, options)
        except DetectorError as error:
            notes.append(Note(code="detector-failed", message=f"{error}; the other detectors went on"))
    return tuple(causes), notes


def _run(detector: Detector, timeline: Timeline, profile: Profile, options: Options) -> list[FailureCause]:
    find = detector.find.get(profile)
    if find is None or detector.failure_type in options.off:
        return []
    try:
        return list(find(timeline, options))
    except Exception as error:
        raise DetectorError(f"{detector.failure_type}: {type(error).__name__}: {error}") from error


def _primary(failure: Failure | None, chain: str) -> PrimaryDiagnosis:
    if failure is None:
        return PrimaryDiagnosis(causal_chain_explanation=chain)
    cause = failure.cause
    return PrimaryDiagnosis(
        root_cause_failure_type=cause.type,
        causal_chain_explanation=chain,
        severity=cause.severity,
        description=cause.description,
    )


def _chain(timeline: Timeline, failure: Failure | None, graph: RunGraph, roots: RunRoots, profile: Profile) -> str:
    if failure is None:
        return NO_FAILURE
    if profile is Profile.STANDARD:
        return explain(timeline, path_to(graph, failure, roots), failure)
    steps = next((detector.steps for detector in ALL if detector.failure_type == failure.cause.type), ())
    return " -> ".join(steps)
