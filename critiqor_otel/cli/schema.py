"""`schema`: the JSON Schema of what the other verbs write and read."""

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from analyzer.baseline import Baseline
from analyzer.report.schema import diagnosis_schema
from analyzer.session.schema import session_schema
from critiqor_otel.cli import options
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.product import deliver

__all__ = ["command"]


def _baseline_schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Baseline)}


_SCHEMAS: Mapping[str, Any] = {
    "diagnosis": diagnosis_schema,
    "session": session_schema,
    "baseline": _baseline_schema,
}


@click.command(
    name="schema",
    epilog="""\b
Examples:
  critiqor-otel schema
  critiqor-otel schema session --output session.schema.json""",
)
@click.argument("document", type=click.Choice(list(_SCHEMAS)), default="diagnosis", metavar="[DOCUMENT]")
@options.output_file
def command(document: str, output: str) -> int:
    """Print the JSON Schema of a document: diagnosis (the default), session or baseline.

    Draft 2020-12. `diagnosis` is what `diagnose --format json` prints.
    """
    deliver([msgspec.json.format(msgspec.json.encode(_SCHEMAS[document]()), indent=2), b"\n"], output)
    return ExitCode.FINE
