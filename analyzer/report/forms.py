"""The forms a report can take, by name."""

from collections.abc import Callable, Iterator, Mapping

from analyzer.report import json_form, markdown, text
from analyzer.report.report import Look, Report

__all__ = ["FORMS", "Form"]

Form = Callable[[Report, Look], Iterator[bytes]]

FORMS: Mapping[str, Form] = {
    "table": text.render,
    "json": json_form.one_document,
    "jsonl": json_form.run_lines,
    "markdown": markdown.render,
}
