"""Which failures are known already, and why are they let pass? A list by fingerprint, kept beside the code.

A baseline is made from the failures of today, so that tomorrow only new ones make CI fail. Each entry has a reason and
may have a date after which it no longer counts.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final, Literal

import msgspec
from msgspec import Struct

from analyzer.cause import FailureCause
from analyzer.errors import BaselineError

__all__ = ["BASELINE_VERSION", "Baseline", "KnownFailure", "read_baseline", "renewed", "written_baseline"]

BASELINE_VERSION: Final = "critiqor.baseline.v1"


class KnownFailure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A failure that is let pass."""

    fingerprint: str
    """Equal for the same failure in every run."""
    type: str
    description: str = ""
    """For who reads the file: the failure as it was found first."""
    reason: str = ""
    """Why it is let pass."""
    added: date | None = None
    expires: date | None = None
    """The last day on which it is let pass; None: for ever."""


class Baseline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The failures that are let pass, sorted by type and fingerprint."""

    schema_version: Literal["critiqor.baseline.v1"] = BASELINE_VERSION
    failures: tuple[KnownFailure, ...] = ()

    def known(self, today: date) -> dict[str, str]:
        """Return what is let pass today: fingerprint → reason."""
        return {
            failure.fingerprint: failure.reason or "known"
            for failure in self.failures
            if failure.expires is None or today <= failure.expires
        }

    def expired(self, today: date) -> tuple[KnownFailure, ...]:
        """Return what is let pass no more."""
        return tuple(one for one in self.failures if one.expires is not None and one.expires < today)


def read_baseline(text: bytes) -> Baseline:
    """Return the baseline of a file.

    Raises:
        BaselineError: it is none; the message names the place in it and what was found.
    """
    try:
        return msgspec.json.decode(text, type=Baseline)
    except msgspec.DecodeError as error:
        raise BaselineError(f"this is no baseline ({BASELINE_VERSION}): {error}") from error


def written_baseline(baseline: Baseline) -> bytes:
    """Return a baseline as a file that people can read and review, a line a field."""
    return msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n"


def renewed(
    old: Baseline,
    found: Iterable[FailureCause],
    *,
    today: date,
    reason: str = "",
    expires: date | None = None,
) -> Baseline:
    """Return a baseline of the failures that were found: known ones as they stood, new ones with this reason.

    What was not found any more is left out. An entry that has expired is renewed as if it were new.
    """
    gone = {one.fingerprint for one in old.expired(today)}
    standing: Mapping[str, KnownFailure] = {one.fingerprint: one for one in old.failures if one.fingerprint not in gone}
    entries: dict[str, KnownFailure] = {}
    for cause in found:
        if not cause.fingerprint or cause.fingerprint in entries:
            continue
        entries[cause.fingerprint] = standing.get(cause.fingerprint) or KnownFailure(
            fingerprint=cause.fingerprint,
            type=cause.type,
            description=cause.description,
            reason=reason,
            added=today,
            expires=expires,
        )
    return Baseline(failures=tuple(sorted(entries.values(), key=lambda one: (one.type, one.fingerprint))))
