"""Every error this package raises.

CritiqorError
├── UnreadableInputError   an input that holds nothing we can read; names the file and what was found
├── DecodeError            bytes that are not what their format says; names the place
├── OutputError            a file that cannot be written; names it and why
│   └── WorkFolderError    a folder of a job's work that can't be used; names it and why
├── ReaderGoneError        whoever read standard output went away; nobody is to be told
├── LostWorkerError        a part of a job on which worker after worker died; names it
├── JournalError           a request that cannot be kept now; the same request may be kept later
└── ReceiverError          a receiver that cannot start as it is configured; names the setting
    └── SpoolTakenError    another process writes to its folder of runs; names the folder
"""

__all__ = [
    "CritiqorError",
    "DecodeError",
    "JournalError",
    "LostWorkerError",
    "OutputError",
    "ReaderGoneError",
    "ReceiverError",
    "SpoolTakenError",
    "UnreadableInputError",
    "WorkFolderError",
]


class CritiqorError(Exception):
    """Anything that stops critiqor-otel from doing what was asked."""


class UnreadableInputError(CritiqorError):
    """Nothing in this input could be read; the message names it, what was found and what to do."""


class DecodeError(CritiqorError):
    """Bytes are not what their format promises; the message names place and finding."""


class OutputError(CritiqorError):
    """A file or folder cannot be written; the message names it and the system's reason."""


class WorkFolderError(OutputError):
    """A folder of a job's work can't be used; the message names it, why, and what to do."""


class ReaderGoneError(CritiqorError):
    """The reader of standard output went away before all was written."""


class LostWorkerError(CritiqorError):
    """Worker after worker died on one part of a job; the message names it."""


class JournalError(CritiqorError):
    """A request cannot be kept now; the message says why, and trying again later may help."""


class ReceiverError(CritiqorError):
    """The receiver cannot start; the message names the setting or the address, and what to do."""


class SpoolTakenError(ReceiverError):
    """Another process writes to the receiver's folder of runs; the message names it, and what to do."""
