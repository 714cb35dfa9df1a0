"""What an address asks for, and what is said of one that is none."""

import re
from pathlib import Path

import pytest
from backend_stub import answering
from command import run_command

from critiqor_otel.backends.address import Window, is_address, parse_address, shown_address
from critiqor_otel.backends.registry import ALL
from critiqor_otel.errors import UnreadableInputError

SECOND = 1_000_000_000
NOW = 1_764_547_200 * SECOND  # 2025-12-01T00:00:00Z
PORTS = {name: kind.port for name, kind in ALL.items()}
KEYS = {name: kind.keys for name, kind in ALL.items()}


def window(text: str) -> Window:
    return parse_address(text, PORTS, KEYS).window(NOW)


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("jaeger://host", "http://host:16686"),
        ("jaeger://host:8080/ui/", "http://host:8080/ui"),
        ("jaeger+https://host", "https://host:443"),
        ("tempo://[::1]?q={}", "http://[::1]:3200"),
        ("tempo+https://user:pass@host:3200", "https://host:3200"),
    ],
)
def test_an_address_says_where_to_ask(text: str, base: str) -> None:
    assert is_address(text)
    assert parse_address(text, PORTS, KEYS).base == base


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("", NOW - 3600 * SECOND, NOW),
        ("?lookback=90m", NOW - 5400 * SECOND, NOW),
        ("?lookback=2d", NOW - 172_800 * SECOND, NOW),
        ("?lookback=500ms", NOW - SECOND // 2, NOW),
        ("?lookback=1h&end=2025-11-30T00:00:00Z", NOW - 90_000 * SECOND, NOW - 86_400 * SECOND),
        ("?start=2025-11-30T00:00:00Z", NOW - 86_400 * SECOND, NOW),
    ],
)
def test_an_address_says_how_far_back(query: str, start: int, end: int) -> None:
    assert window(f"jaeger://host{query}") == Window(start, end)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("jaeger://", "it names no host"),
        ("jaeger:///x", "it names no host"),
        ("jaeger://host:99999", "Port out of range"),
        ("jaeger://host?service=a&colour=red", "colour is nothing that can be asked"),
        ("tempo://host?operation=a", "operation is nothing that can be asked"),
        ("jaeger://host?lookback=5y", "lookback is a number and"),
        ("jaeger://host?lookback=1h&lookback=2h", "lookback is given 2 times"),
        ("jaeger://host?start=yesterday", "start is no time such as"),
        ("jaeger://host?start=2026-01-01T00:00:00Z", "its start is not before its end"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(text: str, why: str) -> None:
    with pytest.raises(UnreadableInputError, match=why):
        window(text)


@pytest.mark.parametrize(
    "text", ["jaeger://user:secret@host:1/x?service=a", "jaeger+https://secret@host", "tempo://u:se:cret@h"]
)
def test_credentials_are_never_shown(text: str) -> None:
    assert "secret" not in shown_address(text)
    assert "@" not in shown_address(text)


def test_credentials_are_not_in_what_the_command_says(tmp_path: Path) -> None:
    done = run_command(tmp_path, "diagnose", "jaeger://user:hidden@127.0.0.1:1?service=agent")

    assert done.code == 3
    assert "jaeger://127.0.0.1:1?service=agent: it can't be reached: Connection refused" in done.err
    assert "hidden" not in done.err


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((200, b"<html>"), "this is not|is not the API of a"),
        ((404, b"page not found"), "this is not|is answered with 404|no trace"),
        ((500, {"errors": [{"msg": "store is down"}]}), "500 Internal Server Error: .*store is down"),
        ((302, b""), "302 .*it points to http://elsewhere.example/"),
    ],
)
@pytest.mark.parametrize("kind", ["jaeger", "tempo"])
def test_an_answer_that_is_none_is_told(kind: str, reply: tuple[int, bytes], why: str, tmp_path: Path) -> None:
    with answering(lambda _path, _query: reply) as backend:
        done = run_command(tmp_path, "diagnose", f"{kind}://127.0.0.1:{backend.port}?service=agent")

    assert done.code == 3
    assert re.search(why, done.err), done.err
    assert "Traceback" not in done.err
