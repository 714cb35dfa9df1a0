import gzip
import random

import pytest

from critiqor_otel.receiver.inflating import TooMuchError, inflated
from critiqor_otel.receiver.refusal import Refusal

SIZES = (0, 1, 100, 1 << 20, (1 << 20) + 1, 3_000_000)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["zeros", "noise"])
def test_a_stream_of_several_members_holds_what_they_hold(size: int, kind: str) -> None:
    data = bytes(size) if kind == "zeros" else random.Random(1).randbytes(size)  # told noise, no secret
    member = gzip.compress(data)

    assert inflated(member, limit=size) == data
    assert inflated(member + member + bytes(9), limit=2 * size) == data + data


def test_one_byte_too_many_is_too_much() -> None:
    with pytest.raises(TooMuchError):
        inflated(gzip.compress(bytes(1001)), limit=1000)


@pytest.mark.parametrize("cut", [1, 8, 9, 15])
def test_a_cut_stream_is_refused(cut: int) -> None:
    with pytest.raises(Refusal, match="cut short"):
        inflated(gzip.compress(b"some text")[:-cut], limit=1000)


@pytest.mark.parametrize("data", [b"plain text", gzip.compress(b"x", mtime=0) + b"rubbish"])
def test_what_is_no_gzip_is_refused(data: bytes) -> None:
    with pytest.raises(Refusal, match="no gzip"):
        inflated(data, limit=1000)


def test_a_crowd_of_empty_members_is_refused() -> None:
    with pytest.raises(Refusal, match="members"):
        inflated(gzip.compress(b"") * 5000, limit=1000)
