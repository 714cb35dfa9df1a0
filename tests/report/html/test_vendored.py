"""The front-end packages are as they were published, and each comes with its licence."""

import hashlib
from pathlib import Path

from analyzer.report.html import vendored
from analyzer.report.html.assets import licences
from analyzer.report.html.vendored import VENDORED

VENDOR = Path(vendored.__file__).with_name("vendor")


def test_each_file_has_the_digest_of_the_table() -> None:
    found = {row.file: hashlib.sha256((VENDOR / row.file).read_bytes()).hexdigest() for row in VENDORED}

    assert found == {row.file: row.sha256 for row in VENDORED}


def test_nothing_is_vendored_that_is_not_in_the_table() -> None:
    expected = {name for row in VENDORED for name in (row.file, row.licence_file)}

    assert {path.name for path in VENDOR.iterdir()} == expected


def test_each_licence_lets_us_pass_it_on_and_stands_in_the_pages() -> None:
    assert {row.licence for row in VENDORED} == {"MIT"}
    assert all("without restriction" in text for _, text in licences())
    assert len(licences()) == len({row.package for row in VENDORED})
