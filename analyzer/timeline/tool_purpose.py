"""What is a tool for, by its name: to change something, to run anything, to wait, or to hand over to another?"""

from analyzer.pattern import pattern
from analyzer.remembered import remembered
from analyzer.timeline.tool_words import name_words

__all__ = ["changes_something", "hands_over_to", "runs_anything", "waits"]

_CHANGES = frozenset(
    [
        *("add", "approve", "assign", "archive", "book", "buy", "cancel", "change", "charge", "checkout", "close"),
        *("create", "delete", "deliver", "deploy", "disable", "discard", "drop", "edit", "enable", "exchange"),
        *("execute", "issue", "insert", "invite", "kill", "merge", "modify", "move", "order", "patch", "pay", "place"),
        *("post", "publish", "purchase", "push", "put", "refund", "register", "reject", "release", "remove", "rename"),
        *("reply", "reschedule", "reserve", "reset", "restart", "return", "revoke", "rollback", "save", "schedule"),
        *("send", "set", "share", "submit", "suspend", "terminate", "transfer", "unsubscribe", "update", "upgrade"),
        *("upload", "wire", "withdraw", "write"),
    ]
)
_RUNS = frozenset(
    [
        *("bash", "shell", "exec", "execute", "terminal", "console", "command", "cmd", "python", "code", "interpreter"),
        *("run", "repl", "jupyter", "notebook", "computer", "browser", "sql", "script", "process", "subprocess"),
        *("powershell", "sandbox", "mcp", "invoke", "task", "agent", "delegate", "workflow"),
    ]
)
_WAITS = frozenset(("wait", "sleep", "pause", "delay", "poll"))
_PEOPLE = frozenset(("human", "humans", "person", "operator", "representative", "supervisor", "live", "staff"))
_HANDOFF = pattern(
    r"(?:hand_?off|hand_?over)(?:_to)?_(.+)|(?:transfer|delegate|escalate)(?:_(?:back|work|task|conversation|control))*_to_(.+)"
)


@remembered(1024)
def changes_something(tool: str) -> bool:
    """Return whether a tool's name begins with a word for changing something; handing over and running are none."""
    words = name_words(tool)
    if not words or hands_over_to(tool) is not None or runs_anything(tool):
        return False
    return words[0] in _CHANGES


@remembered(1024)
def runs_anything(tool: str) -> bool:
    """Return whether a tool does whatever its arguments say: a shell, an interpreter, another agent."""
    return not _RUNS.isdisjoint(name_words(tool))


def waits(tool: str) -> bool:
    """Return whether a tool lets time pass, by a word of its name."""
    return not _WAITS.isdisjoint(name_words(tool))


@remembered(1024)
def hands_over_to(tool: str) -> str | None:
    """Return the name of the agent a tool hands over to, words joined by `_`; an empty text for people; else None."""
    words = name_words(tool)
    found = _HANDOFF.fullmatch("_".join(words))
    if found is None:
        return None
    return "" if not _PEOPLE.isdisjoint(words) else found[1] or found[2]
