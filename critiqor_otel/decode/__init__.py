"""Bytes and objects of one protocol become neutral spans; nothing here opens a file."""

__all__: list[str] = []
