"""May an address stand in a page as a link, and where does Jaeger show a trace?"""

from urllib.parse import urlsplit

from analyzer.pattern import pattern

__all__ = ["is_link", "trace_link"]

_HEX = pattern(r"[0-9a-fA-F]{1,32}")


def is_link(address: str) -> bool:
    """Return whether it is http or https, with a host: nothing that runs when it is clicked."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def trace_link(jaeger: str | None, trace_id: str) -> str | None:
    """Return where that Jaeger shows a trace; None without a Jaeger, and for what is no trace id."""
    if jaeger is None or not is_link(jaeger) or _HEX.fullmatch(trace_id) is None:
        return None
    return f"{jaeger.rstrip('/')}/trace/{trace_id}"
