"""Every error this package raises.

CritiqorError
├── UnreadableInputError   an input that holds nothing we can read; names the file and what was found
├── DecodeError            bytes that are not what their format says; names the place
└── OutputError            a file that cannot be written; names it and why
"""

__all__ = ["CritiqorError", "DecodeError", "OutputError", "UnreadableInputError"]


class CritiqorError(Exception):
    """Anything that stops critiqor-otel from doing what was asked."""


class UnreadableInputError(CritiqorError):
    """Nothing in this input could be read; the message names it, what was found and what to do."""


class DecodeError(CritiqorError):
    """Bytes are not what their format promises; the message names place and finding."""


class OutputError(CritiqorError):
    """A file or folder cannot be written; the message names it and the system's reason."""
