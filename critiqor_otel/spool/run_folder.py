"""The folder a run lives in: an id from outside becomes one harmless name, and can be read back from it.

Lower-case letters, digits, `-`, `_` and inner dots stand for themselves; every other byte of the id's UTF-8 is `%` and
two hex digits. So two ids never share a folder, not even where the file system ignores case; no id leaves the folder,
is hidden, is a device name of Windows, or looks like a continuation (`~2`). Long ids keep their beginning and end in
`%-` and a digest, which no other id can give: those are not read back from the name, but stand in the session file.
"""

import hashlib
import re

__all__ = ["LIMIT", "continuation_folder", "folder_of", "run_id_of"]

LIMIT = 140
"""Bytes of a name; file systems allow 255, encrypted ones 143, and a continuation's number comes behind."""

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_.")
_EMPTY = "%"  # a lone percent sign stands for no bytes at all
_SHORTENED = "%-"
_DIGEST = 32  # hex digits
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # reserved on Windows, whatever the extension
_ENCODED = re.compile(r"(?:[a-z0-9_.-]|%[0-9A-F]{2})+")


def folder_of(run_id: str) -> str:
    """Return the name of the run's folder, at most `LIMIT` ASCII bytes."""
    name = _encoded(run_id)
    if len(name) <= LIMIT:
        return name
    digest = hashlib.sha256(_bytes_of(run_id)).hexdigest()[:_DIGEST]
    beginning = name[: LIMIT - _DIGEST - len(_SHORTENED)]
    return f"{_without_half_byte(beginning)}{_SHORTENED}{digest}"


def continuation_folder(run_id: str, number: int) -> str:
    """Return the name of the folder of a run's continuation; the first continuation is number 2."""
    return f"{folder_of(run_id)}~{number}"


def run_id_of(folder: str) -> str | None:
    """Return the id a folder's name stands for; None for a shortened name, a continuation or a name of another kind."""
    if folder == _EMPTY:
        return ""
    if _ENCODED.fullmatch(folder) is None:
        return None
    raw = re.sub(rb"%([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), folder.encode())
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def _bytes_of(run_id: str) -> bytes:
    return run_id.encode("utf-8", "surrogatepass")


def _encoded(run_id: str) -> str:
    name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in _bytes_of(run_id))
    if name.startswith(".") or _DEVICES.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith("."):  # Windows drops it
        name = f"{name[:-1]}%2E"
    return name or _EMPTY


def _without_half_byte(name: str) -> str:
    return re.sub(r"%[0-9A-F]?$", "", name)
