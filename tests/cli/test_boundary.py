import errno
import os
import re
import subprocess
from pathlib import Path

import click
import pytest
from command import COMMAND, LOOP, Critiqor

from analyzer.errors import SessionFileError
from critiqor_otel.cli.boundary import bounded
from critiqor_otel.errors import OutputError, UnreadableInputError


def raising(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (click.UsageError("no such thing"), 2, "no such thing"),
        (OutputError("x cannot be written: disk full"), 2, "Error: x cannot be written: disk full"),
        (UnreadableInputError("x holds nothing"), 3, "Error: x holds nothing"),
        (SessionFileError("schema_version is 'v9'"), 3, "Error: schema_version is 'v9'"),
        (OSError(errno.ENAMETOOLONG, "too long", "x" * 300), 2, "xxx… is too long for a name"),
        (
            PermissionError(errno.EACCES, "Permission denied", "a/b"),
            3,
            "Error: a/b can't be reached: Permission denied",
        ),
        (KeyboardInterrupt(), 130, "Interrupted."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_foreseen_error_is_a_message_and_a_code(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bounded(lambda: raising(error)) == code

    assert message in capsys.readouterr().err


def test_what_nobody_foresaw_leaves_a_file_for_a_bug_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert bounded(lambda: raising(ZeroDivisionError("by \x1b[2J zero"))) == 4

    said = capsys.readouterr().err
    report = Path(re.findall(r"stands in (\S+)", said)[0])
    text = report.read_text()
    report.unlink()
    assert "ZeroDivisionError" in said
    assert "\x1b" not in said
    assert "Traceback (most recent call last)" in text
    assert re.search(r"^- critiqor-otel \d", text, re.MULTILINE)


@pytest.mark.parametrize(
    "arguments", [[], ["diagnos"], ["diagnose"], ["diagnose", "--fail-on", "awful", "x"], ["diagnose", "--colour", "x"]]
)
def test_a_command_that_is_not_understood_is_exit_code_2(critiqor: Critiqor, arguments: list[str]) -> None:
    done = critiqor(*arguments)

    assert done.code == 2
    assert done.out == ""
    assert "Usage: critiqor-otel" in done.err


@pytest.mark.parametrize("verb", [["diagnose", "--format", "json"], ["show"], ["diagnose"]])
def test_a_reader_that_goes_away_is_met_with_silence(verb: list[str], tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with subprocess.Popen([COMMAND, *verb, LOOP], stdout=write_end, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        os.close(read_end)
        os.close(write_end)
        _, said = process.communicate(timeout=60)

    assert process.returncode == 141
    assert said == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
@pytest.mark.parametrize(
    "arguments",
    [
        *(["diagnose", LOOP, "--format", form] for form in ("table", "json", "markdown")),
        ["show", LOOP],
        ["sessions", LOOP],
        ["doctor", LOOP],
        ["explain"],
        ["demo"],
        ["--help"],
        ["diagnose", "--help"],
        ["--version"],
    ],
    ids=str,
)
def test_an_output_that_is_full_is_no_fault_of_ours(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, check=False, timeout=60
        )

    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "Error: standard output can't be written: No space left on device"


@pytest.mark.parametrize("verb", ["diagnose", "show", "doctor"])
def test_an_output_that_is_closed_is_no_fault_of_ours(verb: str, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S602  # a shell can close it
        f"{COMMAND} {verb} {LOOP} >&-", shell=True, stderr=subprocess.PIPE, cwd=tmp_path, check=False, timeout=60
    )

    assert (done.returncode, done.stderr) == (2, b"Error: standard output is closed\n")


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        ("- <&-", 3, "Error: standard input: it is empty"),
        (f"{LOOP} 2>&-", 1, ""),
        (f"{LOOP} --output report <&- >&- 2>&-", 1, ""),
    ],
)
def test_what_the_caller_closed_is_the_null_device(closed: str, code: int, said: str, tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S602  # a shell can close it
        f"{COMMAND} diagnose {closed}",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stderr.partition("\n")[0]) == (code, said)


@pytest.mark.parametrize(
    ("typed", "meant"), [("diag", "diagnose"), ("Sessions", "sessions"), ("leaderbord", "leaderboard")]
)
def test_a_verb_that_was_mistyped_is_suggested(typed: str, meant: str, critiqor: Critiqor) -> None:
    done = critiqor(typed)

    assert done.code == 2
    assert f"There is no verb '{typed}'. Did you mean {meant}?" in done.err


def test_the_version_is_told(critiqor: Critiqor) -> None:
    assert critiqor("-V").out == critiqor("--version").out
    assert re.fullmatch(r"critiqor-otel \d+\.\d+\.\d+\S*\n", critiqor("--version").out)
