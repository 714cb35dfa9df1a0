"""Spoiled inputs of every format: nothing raises but what is announced, and what is read is sound.

A short run; `tests/fuzz/fuzz_formats.py` makes the long one.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_inputs import SMALL, misfitted, mutated
from sound_spans import faults_of

from critiqor_otel.errors import UnreadableInputError
from critiqor_otel.formats.reading import read_bytes
from critiqor_otel.span import Batch

INPUTS = 150


def read(data: bytes) -> list[Batch]:
    try:
        return list(read_bytes(data, place="input"))
    except UnreadableInputError:
        return []


@pytest.mark.parametrize("name", SMALL)
def test_the_input_as_it_was_is_sound_and_complete(name: str) -> None:
    batches = read(SMALL[name])

    assert any(batch.spans or batch.logs or batch.sessions for batch in batches)
    assert [(batch.notes, faults_of(batch)) for batch in batches if batch.notes or faults_of(batch)] == []


@pytest.mark.parametrize("name", SMALL)
def test_spoiled_bytes_give_sound_spans_or_none(name: str) -> None:
    chance = random.Random(name)

    for _ in range(INPUTS):
        data = mutated(SMALL[name], chance)

        assert [fault for batch in read(data) for fault in faults_of(batch)] == [], data


@pytest.mark.parametrize("name", SMALL)
def test_values_in_the_wrong_place_give_sound_spans_or_none(name: str) -> None:
    chance = random.Random(name)

    for _ in range(INPUTS):
        data = misfitted(SMALL[name], chance)

        assert [fault for batch in read(data) for fault in faults_of(batch)] == [], data


@given(data=st.binary(max_size=300))
def test_any_bytes_give_sound_spans_or_none(data: bytes) -> None:
    assert [fault for batch in read(data) for fault in faults_of(batch)] == []


@given(
    lines=st.lists(
        st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\\", b",", b" ", b"\n", b"a", b"{}\n"]), max_size=60
    )
)
def test_brackets_and_quotes_of_any_order_end(lines: list[bytes]) -> None:
    assert [fault for batch in read(b"{" + b"".join(lines)) for fault in faults_of(batch)] == []
