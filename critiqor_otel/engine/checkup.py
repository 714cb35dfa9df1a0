"""What traces carry, which detectors are blind without what they lack, and what to switch on to get it.

Told by family of conventions. A fact counts as carried where every run of the family carries it; what a run lacks is
laid to the spans that should have carried it, or to all that speak in the run where there are none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from analyzer.detectors.registry import ALL as DETECTORS
from analyzer.profile import Profile
from analyzer.session.model import Session
from analyzer.timeline.index import build_timeline
from analyzer.timeline.missing import Fact
from critiqor_otel.conventions.convention import Convention
from critiqor_otel.conventions.registry import ALL as FAMILIES
from critiqor_otel.conventions.remedies import Aspect, Extra
from critiqor_otel.engine.origins import Origin, Origins
from critiqor_otel.engine.witnesses import ASPECTS, Study, lacks, witnesses

__all__ = ["Carriage", "Checkup", "DetectorReport", "FactReport", "FamilyReport", "checkup"]


class Carriage(StrEnum):
    """How much of something there is."""

    WHOLE = "carried"
    PART = "in part"
    NONE = "not carried"


class FactReport(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a family's traces may carry."""

    carriage: Carriage
    seen: int
    """Calls, model calls or runs that carry it."""
    of: int
    """Those that should."""
    remedies: tuple[str, ...]
    """What to switch on; empty where nothing is lacking, or no setting is known."""


class DetectorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a detector sees of a family's runs."""

    failure_type: str
    sight: Carriage
    """How many of the runs it can judge."""
    lacks: tuple[str, ...]
    """The facts it needs and does not get, or not in full."""


class FamilyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the traces of one family carry."""

    family: str
    source: str
    scopes: tuple[str, ...]
    """The instrumentations that wrote the spans, each with its version, sorted."""
    runs: int
    spans: int
    facts: dict[str, FactReport]
    detectors: tuple[DetectorReport, ...]


class Checkup(msgspec.Struct, frozen=True, kw_only=True):
    """The families in order of precedence, and the spans that no table knows, by scope."""

    families: tuple[FamilyReport, ...]
    unknown_scopes: dict[str, int]


def checkup(sessions: Iterable[Session]) -> Checkup:
    """Return what the traces behind these sessions carry; the order of sessions changes nothing."""
    accounts: dict[str, _Account] = {}
    unknown: Counter[str] = Counter()
    for session in sessions:
        origins = Origins(session)
        unknown.update(scope.name for family, scope in origins.spans if family is None)
        _take(Study(build_timeline(session, Profile.STANDARD), origins), accounts)
    known = (convention for convention in FAMILIES if convention.name in accounts)
    return Checkup(
        families=tuple(_family_report(convention, accounts[convention.name]) for convention in known),
        unknown_scopes=dict(sorted(unknown.items())),
    )


class _Tally:
    """How often one thing was there, in how many runs it was lacking, and in which scopes."""

    __slots__ = ("lacking_runs", "of", "scopes", "seen")

    def __init__(self) -> None:
        self.seen = self.of = self.lacking_runs = 0
        self.scopes: set[str] = set()


class _Account:
    """What is known of one family so far."""

    def __init__(self) -> None:
        self.runs = 0
        self.spans: Counter[tuple[str, str]] = Counter()
        self.tallies: Mapping[Aspect, _Tally] = {aspect: _Tally() for aspect in ASPECTS}


def _take(study: Study, accounts: dict[str, _Account]) -> None:
    for family, scope in study.origins.spans:
        if family is not None:
            accounts.setdefault(family, _Account()).spans[scope.name, scope.version] += 1
    for family in dict.fromkeys(family for family, _ in study.origins.speaking):
        accounts.setdefault(family, _Account()).runs += 1
    for aspect in ASPECTS:
        lacking = _count(aspect, study, accounts)
        for family, scope_name in lacking:
            accounts[family].tallies[aspect].scopes.add(scope_name)
        for family in {family for family, _ in lacking}:
            accounts[family].tallies[aspect].lacking_runs += 1


def _count(aspect: Aspect, study: Study, accounts: dict[str, _Account]) -> set[Origin]:
    """Count who carries it in a run, and return those that should and don't."""
    speaking = study.origins.speaking
    silent: set[Origin] = set()
    for ref, told in witnesses(aspect, study):
        home = study.origins.home(ref)
        silent.update(() if told or home is None else (home,))
        for family in {home[0]} if home is not None else {family for family, _ in speaking}:
            tally = accounts.setdefault(family, _Account()).tallies[aspect]
            tally.of += 1
            tally.seen += told
    if not lacks(aspect, study):
        return set()
    return silent or set(speaking)


def _family_report(convention: Convention, account: _Account) -> FamilyReport:
    facts = {aspect.value: _fact_report(aspect, convention, account) for aspect in ASPECTS}
    return FamilyReport(
        family=convention.name,
        source=convention.source,
        scopes=tuple(sorted(" ".join(filter(None, named)) for named in account.spans if any(named))),
        runs=account.runs,
        spans=account.spans.total(),
        facts=facts,
        detectors=tuple(_detector_reports(facts)),
    )


def _fact_report(aspect: Aspect, convention: Convention, account: _Account) -> FactReport:
    tally = account.tallies[aspect]
    carriage = _carriage(aspect, tally)
    lacking = sorted(tally.scopes) if carriage is not Carriage.WHOLE else ()
    remedies = (convention.remedy(aspect, scope) for scope in lacking)
    return FactReport(
        carriage=carriage,
        seen=tally.seen,
        of=tally.of,
        remedies=tuple(dict.fromkeys(remedy for remedy in remedies if remedy is not None)),
    )


def _carriage(aspect: Aspect, tally: _Tally) -> Carriage:
    # Providers leave the cached part out where nothing came from a cache.
    if not tally.lacking_runs or (aspect is Extra.CACHED_INPUT and tally.seen):
        return Carriage.WHOLE
    return Carriage.PART if tally.seen else Carriage.NONE


def _detector_reports(facts: Mapping[str, FactReport]) -> Iterator[DetectorReport]:
    for detector in DETECTORS:
        lacking = [fact for fact in Fact if fact in detector.needs and facts[fact].carriage is not Carriage.WHOLE]
        blind = any(facts[fact].carriage is Carriage.NONE for fact in lacking)
        sight = Carriage.NONE if blind else Carriage.PART if lacking else Carriage.WHOLE
        yield DetectorReport(
            failure_type=detector.failure_type, sight=sight, lacks=tuple(fact.value for fact in lacking)
        )
