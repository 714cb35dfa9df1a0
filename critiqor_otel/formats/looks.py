"""What might this file be, when it is no trace? For the message that tells a user what was found."""

__all__ = ["looks_like"]

_MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\x7fELF", "a program"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"<", "HTML or XML"),
    (b"{", "JSON"),
    (b"[", "JSON"),
)
_SHOWN = 40
_CONTROL = frozenset(range(0x20)) - frozenset(b"\t\n\r\f\x1b")


def looks_like(head: bytes) -> str:
    """Return what the first bytes of a file look like, in a few words."""
    text = head.lstrip(b" \t\r\n\0\xef\xbb\xbf")
    for magic, name in _MAGIC:
        if text.startswith(magic):
            return name
    if _CONTROL.isdisjoint(text) and text[:_SHOWN].decode("utf-8", "replace").count("\ufffd") <= 1:
        line = text[:_SHOWN].decode("utf-8", "replace").splitlines()
        return f"text that begins with {line[0]!r}" if line else "blanks"
    return f"binary data that begins with {head[:8].hex(' ')}"
