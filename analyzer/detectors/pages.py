"""What does a failure type mean? The page that its detector's author wrote, as Markdown."""

from importlib import import_module

from analyzer.detectors.registry import ALL

__all__ = ["page_of", "summaries"]


def summaries() -> dict[str, str]:
    """Return every failure type with its one-line summary, in the order of the detectors."""
    return {detector.failure_type: detector.summary for detector in ALL}


def page_of(failure_type: str) -> str | None:
    """Return the page of a failure type in Markdown: its name as heading, then its detector's docstring."""
    if failure_type not in summaries():
        return None
    text = import_module(f"analyzer.detectors.{failure_type}").__doc__ or ""
    return f"# {failure_type}\n\n{text.strip()}\n"
