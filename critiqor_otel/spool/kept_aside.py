"""What was acknowledged and can't become part of a session: kept as it came, so that nothing is lost in silence."""

from pathlib import Path

from critiqor_otel.spool.segments import Position
from critiqor_otel.spool.whole_file import create_once, make_folder

__all__ = ["KeptAside"]


class KeptAside:
    """A folder of raw bytes, one file a piece, named after the reason and the place in the journal."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when there is something to keep."""
        self._folder = folder

    def keep(self, data: bytes, position: Position, *, reason: str) -> Path:
        """Write the bytes down, once, and return where.

        Raises:
            OutputError: they cannot be written.
        """
        make_folder(self._folder)
        path = self._folder / f"{reason}-{position.segment}-{position.offset}.bin"
        create_once(path, data)
        return path
