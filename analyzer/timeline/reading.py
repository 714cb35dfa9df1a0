"""How does a profile read events: in which order, from which names, and which calls are equal?"""

from collections.abc import Mapping

from msgspec import Struct

from analyzer.profile import Profile
from analyzer.session.accessors import LookUp, first_given, first_present
from analyzer.timeline.call import FingerprintOf, implied_fingerprint, recorded_fingerprint
from analyzer.timeline.order import Arrange, as_listed, by_time

__all__ = ["READINGS", "Reading"]


class Reading(Struct, frozen=True):
    """How a profile reads events."""

    arrange: Arrange
    look_up: LookUp
    fingerprint_of: FingerprintOf


READINGS: Mapping[Profile, Reading] = {
    Profile.STANDARD: Reading(by_time, first_given, implied_fingerprint),
    Profile.CRITIQOR_V1: Reading(as_listed, first_present, recorded_fingerprint),
}
