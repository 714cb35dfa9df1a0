"""May an address stand in a page as a link?"""

from urllib.parse import urlsplit

__all__ = ["is_link"]


def is_link(address: str) -> bool:
    """Return whether it is http or https, with a host: nothing that runs when it is clicked."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)
