"""Which set of rules and numbers a diagnosis follows."""

from enum import StrEnum

__all__ = ["Profile"]


class Profile(StrEnum):
    """The two sets of rules a session can be judged by."""

    STANDARD = "standard"
    """The documented failure types, explicit and implied evidence, scores capped by the worst severity."""
    CRITIQOR_V1 = "critiqor-v1"
    """The documented detectors and numbers exactly as critiqor 0.1.4 gives them."""
