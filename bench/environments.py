"""Other people's tools, each installed from the registry in an environment of its own, which is kept for next time."""

import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

__all__ = ["installed", "version_of"]


def installed(package: str, folder: Path, words: Sequence[str], options: Sequence[str] = ()) -> list[str]:
    """Return a command of the package with its place; the package is installed where it is not there yet."""
    place = folder / package
    if not (place / "bin" / words[0]).exists():
        venv.create(place, with_pip=True)
        install = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *options]
        subprocess.run([*install, package], check=True)
    return [str(place / "bin" / words[0]), *words[1:]]


def version_of(package: str, folder: Path) -> str:
    """Return the version that is installed."""
    ask = f"from importlib.metadata import version; print(version({package!r}))"
    words = [str(folder / package / "bin" / "python"), "-c", ask]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
