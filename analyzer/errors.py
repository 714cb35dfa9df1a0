"""Every error this package raises.

AnalyzerError
├── SessionFileError       a session file that cannot be read as one
├── BaselineError          a file that is no baseline of known failures
├── DetectorError          a detector failed; carries its failure type
└── HistoryError           the history store can't be used now; the message says why
    └── HistoryDamagedError    its file is no store any more; it can be rebuilt
"""

__all__ = ["AnalyzerError", "BaselineError", "DetectorError", "HistoryDamagedError", "HistoryError", "SessionFileError"]


class AnalyzerError(Exception):
    """Anything that stops the analyzer from doing what was asked."""


class SessionFileError(AnalyzerError):
    """The bytes are not a session file; the message says what was found."""


class BaselineError(AnalyzerError):
    """The bytes are no baseline; the message says where and what was found."""


class DetectorError(AnalyzerError):
    """A detector raised; the message starts with its failure type."""


class HistoryError(AnalyzerError):
    """The history store can't be opened, read or written; the message names the file and the reason."""


class HistoryDamagedError(HistoryError):
    """The file is no history store, or no longer a whole one; the message says how to rebuild it."""
