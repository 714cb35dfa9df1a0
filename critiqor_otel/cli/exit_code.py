"""What the command's exit code means."""

from enum import IntEnum

__all__ = ["ExitCode"]


class ExitCode(IntEnum):
    """The meanings of an exit code."""

    FINE = 0
    FAILURES = 1
    """Some run has a failure at or above `--fail-on`."""
    USAGE = 2
    """The command was not understood, or its output can't be written where it was asked to be."""
    UNREADABLE = 3
    """Nothing could be read, or nothing that was read tells of an agent."""
    INTERNAL = 4
    """A fault of ours; a file for a bug report was written."""
    INTERRUPTED = 130
    """Ctrl-C, as shells report it."""
    BROKEN_PIPE = 141
    """The reader of our output went away, as shells report it."""
