"""The server cases made from public bug reports, each as its facts say."""

import resource
from pathlib import Path

import pytest
from receiving import addresses, raw, receiving, sessions

CASES = Path(__file__).parent / "cases"


@pytest.mark.parametrize("name", ["11a-gzip-json", "11b-gzip-two-members"])
def test_a_gzip_json_request_is_stored_whole(name: str, tmp_path: Path) -> None:
    with receiving(tmp_path) as receiver:
        head, _, body = raw(receiver, (CASES / f"{name}.http").read_bytes()).partition(b"\r\n\r\n")
        stored = addresses(receiver)

    assert head.startswith(b"HTTP/1.1 200 ")
    assert b"content-type: application/json\r\n" in head
    assert body == b"{}"
    assert sorted(stored.values()) == [1, 1, 1]


def test_a_cut_gzip_request_is_400_and_the_next_request_works(tmp_path: Path) -> None:
    with receiving(tmp_path) as receiver:
        head, _, body = raw(receiver, (CASES / "11c-gzip-truncated.http").read_bytes()).partition(b"\r\n\r\n")
        assert sessions(receiver) == []
        again = raw(receiver, (CASES / "11a-gzip-json.http").read_bytes())

    assert head.startswith(b"HTTP/1.1 400 ")
    assert b'"code":3' in body
    assert b'"message":"' in body
    assert again.startswith(b"HTTP/1.1 200 ")


def test_a_gzip_bomb_is_413_while_memory_rises_less_than_twice_the_limit(tmp_path: Path) -> None:
    with receiving(tmp_path) as receiver:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer = raw(receiver, (CASES / "11d-gzip-bomb.http").read_bytes())
        risen = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        limit = receiver.config.limits.request_bytes

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert risen < 2 * limit
