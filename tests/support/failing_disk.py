"""A disk whose syncing fails while a file says so: a shared library that is loaded before the C library."""

import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["failing_disk"]

_SOURCE = r"""
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

static int fails(void) {
    const char *sign = getenv("FAILING_DISK");
    return sign && access(sign, F_OK) == 0;
}
int fdatasync(int file) {
    if (fails()) { errno = EIO; return -1; }
    return syscall(SYS_fdatasync, file);
}
int fsync(int file) {
    if (fails()) { errno = EIO; return -1; }
    return syscall(SYS_fsync, file);
}
"""


def failing_disk(folder: Path, sign: Path) -> dict[str, str]:
    """Return the environment in which every fsync and fdatasync is an input/output error while the sign is there."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here, which the failing disk is made with")
    source, library = folder / "failing_disk.c", folder / "failing_disk.so"
    source.write_text(_SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library), "FAILING_DISK": str(sign)}
