"""Every error this package raises.

AnalyzerError
├── SessionFileError    a session file that cannot be read as one
└── DetectorError       a detector failed; carries its failure type
"""

__all__ = ["AnalyzerError", "DetectorError", "SessionFileError"]


class AnalyzerError(Exception):
    """Anything that stops the analyzer from doing what was asked."""


class SessionFileError(AnalyzerError):
    """The bytes are not a session file; the message says what was found."""


class DetectorError(AnalyzerError):
    """A detector raised; the message starts with its failure type."""
