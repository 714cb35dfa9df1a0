"""The JSON Schema of `critiqor.diagnosis.v1`, made from the types that a verdict is made of."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from analyzer.report.report import SCHEMA_VERSION
from analyzer.session.model import Note
from analyzer.verdict import Diagnosis

__all__ = ["DiagnosisDocument", "diagnosis_schema"]


class DiagnosisDocument(Struct, frozen=True):
    """The verdicts on the runs of one input."""

    schema_version: Literal["critiqor.diagnosis.v1"]
    runs: list[Diagnosis]
    """In order of run id."""
    skipped: list[Note]
    """Inputs that could not be read, or hold no evidence of an agent."""
    notes: list[Note]
    """What else was found odd in the input."""


def diagnosis_schema() -> dict[str, Any]:
    """Return the schema, JSON Schema draft 2020-12; a later version of the product may add fields."""
    schema = msgspec.json.schema(DiagnosisDocument)
    run = schema["$defs"][Diagnosis.__name__]
    run["required"] = list(run["properties"])  # a verdict tells all, what it doesn't know as null
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA_VERSION, **schema}
