"""Captured traffic of real frameworks, sent to a receiver, becomes the sessions that the same files become in batch."""

from pathlib import Path

import pytest
from command import CAPTURES
from receiving import post, receiving, sessions

from critiqor_otel.engine.local import gather, runs_of
from critiqor_otel.formats.reading import read_paths

FAMILIES = sorted(folder.name for folder in CAPTURES.iterdir() if (folder / "clean_two_tools.otlp.pb").exists())


def together(run_id: str) -> str:
    return run_id.partition("~")[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_received_becomes_what_is_read_from_files(family: str, tmp_path: Path) -> None:
    files = [CAPTURES / family / "clean_two_tools.otlp.pb", CAPTURES / family / "clean_two_tools.logs.otlp.pb"]
    paths = {file: "/v1/logs" if ".logs." in file.name else "/v1/traces" for file in files if file.exists()}
    batch = runs_of(gather(read_paths([str(file) for file in paths])), keep_silent=True)

    with receiving(tmp_path) as receiver:
        for file, path in paths.items():
            assert post(receiver, file.read_bytes(), path=path).status == 200
        live = sessions(receiver)

    assert {session.run_id: session.events for session in live} == {
        session.run_id: session.events for session in batch.sessions
    }
