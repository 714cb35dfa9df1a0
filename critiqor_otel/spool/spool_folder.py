"""Where the parts of a spool lie: `runs/<run>/` for sealed sessions, and a hidden folder in `runs` for the rest."""

import fcntl
import os
from pathlib import Path

import msgspec

from critiqor_otel.errors import SpoolTakenError
from critiqor_otel.spool.whole_file import make_folder

__all__ = ["SpoolFolder", "SpoolLock"]

_HIDDEN = ".spool"


class SpoolFolder(msgspec.Struct, frozen=True):
    """The paths of one spool."""

    runs: Path

    @property
    def home(self) -> Path:
        """What is no run."""
        return self.runs / _HIDDEN

    @property
    def journal(self) -> Path:
        """The journal's segments."""
        return self.home / "journal"

    @property
    def aside(self) -> Path:
        """Acknowledged bytes that could not become part of a session."""
        return self.home / "kept"

    @property
    def beside(self) -> Path:
        """Folders of runs of their own, for who observes a command while another process has the journal."""
        return self.home / "beside"

    @property
    def index(self) -> Path:
        """The database of what is sealed."""
        return self.home / "sealed.db"

    def make(self) -> None:
        """Make the folders that are not there, and sweep up files that a crash left half-written.

        Raises:
            OutputError: a folder cannot be made.
        """
        make_folder(self.journal)
        for half in self.runs.glob("*/.*.aside"):
            half.unlink(missing_ok=True)


class SpoolLock:
    """Held by the one process that writes, or owns, a spool."""

    def __init__(self, folder: SpoolFolder, name: str, *, wait: bool = False) -> None:
        """Take the lock, and wait for it where that is asked.

        Raises:
            SpoolTakenError: another process holds it.
        """
        self._file = os.open(folder.home / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            message = f"another receiver writes to {folder.runs}: stop it, or choose another folder"
            raise SpoolTakenError(message) from error

    def release(self) -> None:
        """Let another process have it."""
        os.close(self._file)
