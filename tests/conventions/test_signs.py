"""A family is asked about every span that it would know."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import CAPTURES, FURTHER_CAPTURES

from critiqor_otel.conventions.records import span_of_record
from critiqor_otel.conventions.registry import ALL, facts_of
from critiqor_otel.formats.reading import read_path
from critiqor_otel.span import Span

FOLDERS = {
    path.name: path for top in (CAPTURES, FURTHER_CAPTURES) for path in sorted(top.iterdir()) if path.name != "_formats"
}


def spans(folder: Path) -> Iterator[Span]:
    for path in sorted(folder.glob("*.otlp.jsonl")):
        for batch in read_path(path):
            yield from batch.spans
            yield from (span for record in batch.logs if (span := span_of_record(record)) is not None)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_span_that_a_family_knows_is_without_its_signs(folder: str) -> None:
    for span in spans(FOLDERS[folder]):
        knowing = [family for family in ALL if family.role_of(span) is not None]

        assert [family.name for family in knowing if family.signs is not None and not family.signs.mark(span)] == []
        assert facts_of(span).family == (knowing[0].name if knowing else None)
