"""The file that an internal error leaves behind, laid out to be pasted into a bug report."""

import platform
import shlex
import sys
import tempfile
import traceback
from importlib import metadata

from critiqor_otel.backends.address import shown_address

__all__ = ["write_bug_report"]

_PACKAGES = ("critiqor-otel", "click", "msgspec", "opentelemetry-proto", "protobuf", "rich", "zstandard")


def write_bug_report(error: BaseException) -> str:
    """Write the report to a new temporary file and return its path."""
    lines = (
        "## What happened",
        "",
        f"`{type(error).__name__}`",
        "",
        "## The command (look it over: it may hold names of yours)",
        "",
        "```",
        shlex.join(("critiqor-otel", *(shown_address(word) if "://" in word else word for word in sys.argv[1:]))),
        "```",
        "",
        "## Versions",
        "",
        f"- Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        *(f"- {name} {_version(name)}" for name in _PACKAGES),
        "",
        "## Traceback",
        "",
        "```",
        "".join(traceback.format_exception(error)).rstrip(),
        "```",
        "",
    )
    text = "\n".join(lines).encode("utf-8", "backslashreplace")
    with tempfile.NamedTemporaryFile(prefix="critiqor-otel-error-", suffix=".md", delete=False) as file:
        file.write(text)
    return file.name


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
