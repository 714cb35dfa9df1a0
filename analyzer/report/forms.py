"""The forms a report can take, by name, each loaded when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from analyzer.report.report import Look, Report

__all__ = ["FORMS", "Form", "form_named"]

Form = Callable[[Report, Look], Iterator[bytes]]

FORMS: Mapping[str, str] = {
    "table": "analyzer.report.text:render",
    "json": "analyzer.report.json_form:one_document",
    "jsonl": "analyzer.report.json_form:run_lines",
    "markdown": "analyzer.report.markdown:render",
    "sarif": "analyzer.report.sarif:render",
    "junit": "analyzer.report.junit:render",
    "csv": "analyzer.report.csv_form:render",
    "openmetrics": "analyzer.report.openmetrics:render",
}
"""Module and function of each form."""


def form_named(name: str) -> Form:
    """Return the form of that name.

    Raises:
        KeyError: there is none.
    """
    module, _, function = FORMS[name].partition(":")
    form: Form = getattr(import_module(module), function)
    return form
