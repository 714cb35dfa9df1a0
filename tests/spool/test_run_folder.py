import pytest
from hypothesis import given
from hypothesis import strategies as st

from critiqor_otel.spool.run_folder import LIMIT, continuation_folder, folder_of, run_id_of

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates among it

NASTY = [
    "",
    ".",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "C:\\windows",
    "nul",
    "NUL",
    "con.txt",
    "com1",
    "run\x00id",
    "run\nid",
    " run ",
    "run.",
    ".hidden",
    "-rf",
    "~",
    "run~2",
    "%2e%2e",
    "%",
    "%-",
    "Ünïcödé",
    "会话",
    "\ud83e",
    "a" * 5000,
    "é" * 200,
    '*?<>|":',
]


@pytest.mark.parametrize("run_id", NASTY)
def test_a_nasty_id_becomes_one_harmless_name(run_id: str) -> None:
    name = folder_of(run_id)

    assert 0 < len(name) <= LIMIT
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.%ABCDEF")
    assert not name.startswith(".")
    assert not name.endswith(".")
    assert name.partition(".")[0] not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(ANY_TEXT, ANY_TEXT)
def test_two_ids_never_share_a_folder_even_where_case_is_ignored(one: str, other: str) -> None:
    assert (folder_of(one).casefold() == folder_of(other).casefold()) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"), [("run", "RUN"), ("a" * 5000, "a" * 5001), ("x~2", "x%7E2"), ("é", "e\u0301")]
)
def test_ids_that_look_alike_have_folders_of_their_own(one: str, other: str) -> None:
    assert folder_of(one).casefold() != folder_of(other).casefold()


@given(ANY_TEXT)
def test_the_id_is_read_back_from_the_name_or_not_at_all(run_id: str) -> None:
    assert run_id_of(folder_of(run_id)) in {run_id, None}


@given(st.text(max_size=15))
def test_a_short_id_is_read_back_from_the_name(run_id: str) -> None:
    assert run_id_of(folder_of(run_id)) == run_id


def test_plain_ids_stand_for_themselves() -> None:
    assert folder_of("run_001") == "run_001"
    assert folder_of("4bf92f3577b34da6a3ce929d0e0e4736") == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_no_id_has_the_folder_of_a_continuation() -> None:
    assert continuation_folder("run", 2) == "run~2"
    assert folder_of("run~2") == "run%7E2"
    assert run_id_of("run~2") is None


@pytest.mark.parametrize("name", ["Run", "a b", "%zz", "%4", "%e4", "", "a/b"])
def test_a_name_that_no_id_gives_has_no_id(name: str) -> None:
    assert run_id_of(name) is None


def test_bytes_that_are_no_text_have_no_id() -> None:
    assert run_id_of("%FF%FE") is None
