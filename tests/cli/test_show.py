import json
import re
from pathlib import Path

import pytest
from command import LOOP, Critiqor


def test_a_run_is_shown_event_by_event(critiqor: Critiqor) -> None:
    done = critiqor("show", LOOP)

    lines = done.out.splitlines()
    assert done.code == 0
    assert len([line for line in lines if re.search(r"\d\d:\d\d:\d\d\.\d{3} +tool_call +search_docs", line)]) == 5
    assert len([line for line in lines if "  ← infinite_tool_loop" in line]) >= 5


def test_what_is_inside_is_indented(critiqor: Critiqor) -> None:
    lines = critiqor("show", LOOP).out.splitlines()

    starts = {name: next(line.index(name) for line in lines if name in line) for name in ("agent_start", "tool_call")}
    assert starts["agent_start"] < starts["tool_call"]


def test_a_sealed_run_is_found_by_its_id(critiqor: Critiqor, folder: Path) -> None:
    (path,) = critiqor("sessions", LOOP).out.splitlines()
    run_id = json.loads((folder / path).read_bytes())["run_id"]

    by_id, by_folder = critiqor("show", run_id), critiqor("show", Path(path).parent)

    assert by_id.code == 0
    assert by_id.out == by_folder.out


def test_the_beginning_of_an_id_will_do_where_it_names_one_run(critiqor: Critiqor, folder: Path) -> None:
    for run_id in ("Chat-1", "Chat-2", "Chat-2~x", "x" * 200):
        session = {"schema_version": "critiqor.session.v1", "run_id": run_id, "events": [{"event": "decision"}]}
        (folder / "session.json").write_text(json.dumps(session))
        assert critiqor("sessions", "session.json").code == 0

    several = critiqor("show", "Chat")
    assert several.code == 2
    assert "3 runs in runs begin with 'Chat':\n  Chat-1\n  Chat-2\n  Chat-2~x\n" in several.err
    assert critiqor("show", "Chat-2~").out.startswith("Chat-2~x")
    assert critiqor("show", "Chat-2").out.startswith("Chat-2  ?\n")
    assert critiqor("show", "xxx").out.startswith("x" * 200)


def test_a_run_that_is_not_there_is_usage(critiqor: Critiqor) -> None:
    done = critiqor("show", "run_404")

    assert done.code == 2
    assert "'run_404' is no path, and runs holds no run of that id" in done.err


def test_a_name_no_file_can_bear_is_no_run(critiqor: Critiqor) -> None:
    done = critiqor("show", "x" * 300)

    assert done.code == 2
    assert "is no path, and runs holds no run of that id" in done.err


def test_ids_that_would_speak_to_the_terminal_are_spelled_out_and_understood(critiqor: Critiqor, folder: Path) -> None:
    for number in range(2):
        session = {"schema_version": "critiqor.session.v1", "run_id": f"\x1b[2J{number}", "events": [{"event": "x"}]}
        (folder / f"{number}.json").write_text(json.dumps(session))

    done = critiqor("show", ".")

    assert "\x1b" not in done.err
    assert "\\x1b[2J0" in done.err
    assert critiqor("show", ".", "--only", "\\x1b[2J0").code == 0


@pytest.mark.usefixtures("folder")
def test_of_several_runs_one_must_be_named(critiqor: Critiqor) -> None:
    done = critiqor("show", "traces")

    ids = re.findall(
        r"^  (\S+)  support_agent +completed +(?:unsafe for production|safe to deploy)$", done.err, re.MULTILINE
    )
    assert done.code == 2
    assert len(ids) == 2
    assert critiqor("show", "traces", "--only", ids[0][:-1]).out == critiqor("show", "traces", "--only", ids[0]).out
    assert critiqor("show", "traces", "--only", ids[0]).code == 0


def test_a_session_of_a_plugin_is_shown(critiqor: Critiqor, folder: Path) -> None:
    events = [
        {"event_type": "tool_call", "tool_name": "ls\x1b[2J", "payload": {"input": {"path": "/"}}, "timestamp": None},
        {"event_type": "made_up", "payload": ["odd"]},
        "no event",
    ]
    session = {"schema_version": "critiqor.session.v1", "run_id": "run_001", "events": events}
    (folder / "session.json").write_text(json.dumps(session))

    done = critiqor("show", "session.json")

    assert done.code == 0
    assert "\x1b" not in done.out
    assert re.search(r"tool_call +ls\\x1b\[2J", done.out)
    assert "made_up" in done.out
