"""Bytes of a file become spans: one format a module, found by content, never by the file's name."""

__all__: list[str] = []
