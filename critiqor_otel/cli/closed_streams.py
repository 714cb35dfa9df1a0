"""A standard stream that the caller closed (`2>&-`) is the null device: no file of ours may get its number."""

import os
import sys

__all__ = ["fill_closed_streams"]


def fill_closed_streams() -> None:
    """Open the null device for each standard stream that is closed.

    `sys.stdout` stays None, so that a product without a place to go is told of.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
            os.set_inheritable(number, True)  # noqa: FBT003  # takes no keyword
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
