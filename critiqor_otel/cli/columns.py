"""Rows of text in aligned columns, for people: nothing in a cell can move a cursor or break a line."""

from collections.abc import Iterator, Sequence

from analyzer.report.plain import column_width, one_line

__all__ = ["aligned", "shown"]

_GAP = "  "
_UNKNOWN = "?"


def aligned(rows: Sequence[Sequence[str]], *, indent: str = "") -> Iterator[bytes]:
    """Yield a line a row, each column as wide as its widest cell."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(column_width, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = _GAP.join(cell + " " * (width - column_width(cell)) for cell, width in zip(row, widths, strict=True))
        yield f"{indent}{line.rstrip()}\n".encode()


def shown(value: object) -> str:
    """Return a value as a cell: `?` where it is not known, numbers with thousands marked."""
    match value:
        case None:
            return _UNKNOWN
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.2f}"
        case _:
            return str(value)
