"""Where an engine's tasks leave what the next ones need: a folder here, or one that fsspec reaches."""

import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from typing_extensions import override

from critiqor_otel.errors import OutputError
from critiqor_otel.formats.inputs import file_system, is_remote

__all__ = ["Store"]


class Store:
    """Files by name; a file is whole or not there. A worker gets the address and makes a store of its own."""

    def __init__(self, address: str) -> None:
        """Take the path or address of the folder, which is made when the first file is written."""
        self.address = address.rstrip("/") if is_remote(address) else str(Path(address).absolute())
        self._system: Any = file_system(address)[0] if is_remote(address) else None

    @override
    def __reduce__(self) -> tuple[type["Store"], tuple[str]]:
        """Travel as an address."""
        return Store, (self.address,)

    @contextmanager
    def writing(self, name: str) -> Generator[IO[bytes]]:
        """Yield a file that bears the name when the block ends well; two writers of one name do no harm.

        Raises:
            OutputError: it can't be written.
        """
        try:
            if self._system is not None:
                self._system.makedirs(self.address, exist_ok=True)
                with self._system.transaction, self._system.open(self._path(name), "wb") as file:
                    yield file
                return
            path = Path(self._path(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            aside = path.with_name(f".{path.name}.{os.getpid()}")
            try:
                with aside.open("wb") as file:
                    yield file
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{self._path(name)} cannot be written: {error.strerror or error}") from error

    def write(self, name: str, content: bytes) -> None:
        """Write a file.

        Raises:
            OutputError: it can't be written.
        """
        with self.writing(name) as file:
            file.write(content)

    def open(self, name: str) -> IO[bytes]:
        """Open a file to be read.

        Raises:
            FileNotFoundError: there is none of that name.
        """
        if self._system is not None:
            return cast("IO[bytes]", self._system.open(self._path(name), "rb"))
        return Path(self._path(name)).open("rb")

    def ranges(self, name: str, wanted: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        """Yield what lies at each (offset, length) of a file.

        Raises:
            FileNotFoundError: there is none of that name.
        """
        if self._system is not None:
            for offset, length in wanted:
                yield self._system.cat_file(self._path(name), start=offset, end=offset + length)
            return
        with self.open(name) as file:
            for offset, length in wanted:
                file.seek(offset)
                yield file.read(length)

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None when there is none of that name."""
        try:
            with self.open(name) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def names(self) -> frozenset[str]:
        """Return the names of the files that are there."""
        if self._system is None:
            folder = Path(self.address)
            return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()
        if not self._system.isdir(self.address):
            return frozenset()
        return frozenset(str(name).rpartition("/")[2] for name in self._system.ls(self.address, detail=False))

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        if self._system is None:
            Path(self._path(name)).unlink(missing_ok=True)
        elif self._system.exists(self._path(name)):
            self._system.rm(self._path(name))

    def clear(self) -> None:
        """Remove the folder and all that is in it."""
        if self._system is None:
            shutil.rmtree(self.address, ignore_errors=True)
        elif self._system.isdir(self.address):
            self._system.rm(self.address, recursive=True)

    def _path(self, name: str) -> str:
        return f"{self.address}/{name}"
