"""What are the files of a run called, and where does a file lie that belongs to a session?"""

__all__ = ["DIAGNOSIS_FILE", "RECEIPT_FILE", "SESSION_FILE", "beside"]

SESSION_FILE = "session.json"
RECEIPT_FILE = "receipt.json"
DIAGNOSIS_FILE = "diagnosis.json"


def beside(session_file: str, name: str) -> str:
    """Return the name of a file beside a session file.

    `session.json` has `diagnosis.json`, `a.session.json` has `a.diagnosis.json`, any other its own name before it.
    """
    if session_file.endswith(SESSION_FILE):
        return session_file.removesuffix(SESSION_FILE) + name
    return f"{session_file}.{name}"
