"""Why a session was closed: the word that its receipt and the metrics bear."""

from enum import StrEnum

__all__ = ["CloseReason"]


class CloseReason(StrEnum):
    """The reasons for which an open session closes."""

    ROOT_ENDED_IDLE = "root_ended_idle"
    """A root span has ended, and nothing came since for a little while."""
    IDLE = "idle"
    """Nothing came for a long while, and no root span ever ended."""
    TOO_LONG = "too_long"
    TOO_LARGE = "too_large"
    SHUTDOWN = "shutdown"
    FLUSH = "flush"
    """Somebody asked for it."""
