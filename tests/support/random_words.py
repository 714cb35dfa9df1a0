"""The command with words that nobody would type: odd values, files of the wrong kind, places that are none.

The words follow from the seed. Each command runs in a process of its own, in a folder of its own with a few files of
ours, so that nothing it writes reaches anything else.
"""

import os
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click
from command import LOOP
from small_inputs import SMALL, misfitted

from critiqor_otel.cli import main as command
from critiqor_otel.cli.exit_code import ExitCode

__all__ = ["Tried", "lay_out", "tried"]

_LONGEST = 60  # seconds a command may take: it shares the machine with many
_FORBIDDEN = frozenset(("--watch", "--follow"))  # wait for ever, as they are asked to
_FILES = ("run.otlp.jsonl", "session.json", "spoiled.json", "empty", "runs", "runs/one", "noise.bin", "policy.toml")
_ODD = (
    *("", " ", "-", "--", ".", "..", "nowhere", "nowhere/deep/file", "no:scheme", "a\tb", "é\u202e", "x" * 300, "*"),
    *("/dev/null", "/proc/none/x", "run.otlp.jsonl/x", "loop", "\udcff", "-1", "0", "1", "1e999", "nan"),
    *("99999999999999999999", "true", "=", "a=b", "2026-11-30", "2026-13-99", "[]", "{}", "null", "%s%n", "$HOME", "%"),
    *("jaeger://127.0.0.1:1", "tempo://127.0.0.1:1/x", "jaeger://", "http://127.0.0.1:1", "http://[", "https://a:b@/"),
)


class Tried(NamedTuple):
    """A command and what became of it."""

    words: tuple[str, ...]
    code: int
    said: str

    @property
    def fault(self) -> str | None:
        """What is wrong with it; None when it did its work or said why not."""
        passes_on = self.words[0] == "run"  # the code of its command, which may have said nothing
        fine = _FINE | _PASSED_ON if passes_on else _FINE
        is_refusal = self.code in {ExitCode.USAGE, ExitCode.UNREADABLE} and not passes_on
        if self.code in fine and "Traceback" not in self.said and (self.said.strip() or not is_refusal):
            return None
        return f"exit code {self.code} of {self.words!r}:\n{self.said[-2000:]}"


_FINE = frozenset((ExitCode.FINE, ExitCode.FAILURES, ExitCode.USAGE, ExitCode.UNREADABLE))
_PASSED_ON = frozenset((126, 127))  # what a shell says of a command that can't be started


def lay_out(folder: Path) -> None:
    """Put files of each kind into a folder."""
    chance = random.Random("files")
    (folder / "runs" / "one").mkdir(parents=True)
    shutil.copy(LOOP, folder / "run.otlp.jsonl")
    (folder / "session.json").write_bytes(SMALL["session"])
    (folder / "runs" / "one" / "session.json").write_bytes(SMALL["session"])
    (folder / "spoiled.json").write_bytes(misfitted(SMALL["session"], chance))
    (folder / "empty").touch()
    (folder / "noise.bin").write_bytes(chance.randbytes(2000))
    (folder / "policy.toml").write_text("minimum_trust_score = 50\n")
    (folder / "loop").symlink_to("loop")


def tried(seed: str, count: int) -> Iterator[Tried]:
    """Try so many commands, and yield what became of each."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        template = Path(place) / "files"
        template.mkdir()
        lay_out(template)
        for number in range(count):
            folder = Path(place) / str(number)
            shutil.copytree(template, folder, symlinks=True)
            words = tuple(_words(chance))
            yield _run(words, folder)
            shutil.rmtree(folder)


def _words(chance: random.Random) -> Iterator[str]:
    verb = chance.choice((*command.VERBS, *command.VERBS, "nonsense", ""))
    yield verb
    known = command.VERBS.get(verb)
    parameters: Sequence[click.Parameter] = import_module(known.module).command.params if known else ()
    for parameter in parameters:
        if isinstance(parameter, click.Option) and chance.random() < _SHARE and not _FORBIDDEN & {*parameter.opts}:
            yield chance.choice(parameter.opts)
            if not parameter.is_flag:
                yield _value(parameter.type, chance)
    yield from _ENDS.get(verb, _files)(chance)


_SHARE = 0.2  # of a verb's options


def _value(of: click.ParamType[Any], chance: random.Random) -> str:
    if isinstance(of, click.Choice) and chance.random() < 0.9:  # mostly one that is let in
        return str(chance.choice(list(of.choices)))
    if isinstance(of, (click.IntRange, click.FloatRange)) and chance.random() < 0.7:  # as above
        return chance.choice(("1", "2", "3"))
    return _word(chance)


def _word(chance: random.Random) -> str:
    return chance.choice(_FILES if chance.random() < 0.5 else _ODD)  # half of them are there


def _files(chance: random.Random) -> Iterator[str]:
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        yield _word(chance)


def _never_started(chance: random.Random) -> Iterator[str]:
    """Words with which no receiver starts: it would not end by itself."""
    yield from ("--token-file", "nowhere")
    yield from _files(chance)


def _harmless(chance: random.Random) -> Iterator[str]:
    """A command to be run that ends at once, or is none."""
    yield from ("--", chance.choice(("true", "false", "nowhere", "", "./empty", "runs")), _word(chance))


_ENDS: dict[str, Callable[[random.Random], Iterator[str]]] = {"serve": _never_started, "run": _harmless}


def _run(words: tuple[str, ...], folder: Path) -> Tried:
    said = folder.with_suffix(".said")
    child = os.fork()
    if child == 0:
        _become(words, folder, said)
    _, status = os.waitpid(child, 0)
    with said.open("rb") as file:
        return Tried(words, os.waitstatus_to_exitcode(status), file.read().decode("utf-8", "replace"))


def _become(words: tuple[str, ...], folder: Path, said: Path) -> None:
    """Be the command; never comes back."""
    code = 70
    try:
        signal.alarm(_LONGEST)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        out = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        sys.argv = ["critiqor-otel", *words]
        code = command.main()
        sys.stdout.flush()
    finally:
        os._exit(code)
