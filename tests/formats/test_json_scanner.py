"""Documents end where they were written to end, however long they are and wherever their text is taken apart."""

import json
from itertools import accumulate, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from critiqor_otel.formats.json_scanner import Scanner

_LEAVES = st.sampled_from(["", "}", "]{", '"', "\\", '\\"}', "text", 1, None])
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("{"), inner))
_DOCUMENTS = st.lists(st.tuples(st.lists(_VALUES, min_size=1, max_size=4), st.sampled_from([1, 9, 40_000])), max_size=3)


@settings(max_examples=60)
@given(_DOCUMENTS, st.lists(st.floats(0, 1), max_size=4))
def test_each_document_ends_behind_its_last_bracket(
    documents: list[tuple[list[object], int]], cuts: list[float]
) -> None:
    texts = [json.dumps({"of": values * times}).encode() for values, times in documents]
    whole = b" ".join(texts)
    ends = list(accumulate(len(text) + 1 for text in texts))
    places = sorted({0, len(whole), *(_outside_of_an_escape(whole, int(cut * len(whole))) for cut in cuts)})

    scanner = Scanner()
    found = [begin + end for begin, until in pairwise(places) for end in scanner.ends(whole[begin:until])]

    assert found == [end - 1 for end in ends]
    assert (scanner.depth, scanner.in_string) == (0, False)


def test_brackets_deeper_than_any_trace_are_followed_too() -> None:
    scanner = Scanner()
    deep = b"[" * 1_000 + b"]" * 1_000

    assert scanner.ends(b'{"of":') == []
    assert scanner.ends(deep) == []
    assert scanner.ends(b"}") == [1]


def test_a_bracket_that_closes_nothing_is_told_behind_a_long_document() -> None:
    scanner = Scanner()
    text = json.dumps({"of": ["{"] * 100_000}).encode()

    assert scanner.ends(text + b"]" + text) == [len(text)]
    assert scanner.depth < 0


def _outside_of_an_escape(text: bytes, at: int) -> int:
    while text[at - 1 : at] == b"\\":
        at += 1
    return at
