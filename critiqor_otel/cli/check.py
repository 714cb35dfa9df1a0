"""`check`: runs and a policy in, a gate's decision out, each rule with its value and limit."""

from collections.abc import Iterator, Mapping
from typing import Any

import click
import msgspec

from analyzer.evaluation.policy import PolicyCheckResult, PolicyRule, check_policy, check_rules
from analyzer.evaluation.record import EvaluationRecord
from analyzer.report.json_form import encode_json
from analyzer.report.words import READINESS
from critiqor_otel.cli import options
from critiqor_otel.cli.columns import aligned, shown
from critiqor_otel.cli.evaluations import read_evaluations
from critiqor_otel.cli.exit_code import ExitCode
from critiqor_otel.cli.policy_file import read_policy
from critiqor_otel.cli.product import deliver
from critiqor_otel.cli.side import Side

__all__ = ["Request", "check", "command"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for."""

    paths: tuple[str, ...]
    policy: str | None
    run_ids: tuple[str, ...]
    last: int | None
    form: str
    output: str
    profile: str
    config: str | None = None
    quiet: bool


class _Checked(msgspec.Struct, frozen=True):
    """One run and what the policy says of it."""

    record: EvaluationRecord
    result: PolicyCheckResult
    rules: list[PolicyRule]


def check(request: Request) -> int:
    """Hold the runs against the policy, print each rule, and return 1 when one is broken."""
    side = Side(quiet=request.quiet)
    policy: Mapping[str, Any] = {} if request.policy is None else read_policy(request.policy, side=side)
    records = read_evaluations(request.paths, side=side, profile=request.profile, config=request.config)
    checked = [_check(record, policy) for record in _chosen(records, request)]
    deliver(_FORMS[request.form](checked), request.output)
    return ExitCode.FINE if all(one.result.passed for one in checked) else ExitCode.FAILURES


def _chosen(records: list[EvaluationRecord], request: Request) -> list[EvaluationRecord]:
    missing = sorted(set(request.run_ids) - {record.run_id for record in records})
    if missing:
        raise click.UsageError(f"there is no run {', '.join(missing)} in {', '.join(request.paths)}")
    chosen = [record for record in records if not request.run_ids or record.run_id in request.run_ids]
    return chosen if request.last is None else chosen[-request.last :]


def _check(record: EvaluationRecord, policy: Mapping[str, Any]) -> _Checked:
    return _Checked(record, check_policy(record, policy), check_rules(record, policy))


def _table(checked: list[_Checked]) -> Iterator[bytes]:
    for one in checked:
        recommendation = READINESS[one.result.deployment_recommendation]
        yield from aligned([[one.record.run_id or "(no id)", one.record.agent_id, recommendation]])
        rows = [["", "RULE", "VALUE", "LIMIT"], *(_row(rule) for rule in one.rules)]
        yield from aligned(rows, indent="  ")
        if one.result.passed:
            yield from aligned([[message] for message in one.result.messages], indent="  ")
    broken = sum(not one.result.passed for one in checked)
    yield f"{len(checked) - broken} of {len(checked)} runs meet the policy\n".encode()


def _row(rule: PolicyRule) -> list[str]:
    return ["kept" if rule.passed else "broken", rule.name, shown(rule.value), shown(rule.limit)]


def _document(checked: list[_Checked]) -> Iterator[bytes]:
    runs = [
        {
            "run_id": one.record.run_id,
            "agent_id": one.record.agent_id,
            **one.result.to_dict(),
            "rules": [msgspec.to_builtins(rule) for rule in one.rules],
        }
        for one in checked
    ]
    yield encode_json({"passed": all(one.result.passed for one in checked), "runs": runs}) + b"\n"


_FORMS = {"table": _table, "json": _document}


@click.command(
    name="check",
    epilog="""\b
Examples:
  critiqor-otel check traces/
  critiqor-otel check traces/ --policy policy.toml
  critiqor-otel check runs/ --policy policy.toml --format json""",
)
@options.paths
@click.option("--policy", metavar="FILE", help="The rules, in TOML, YAML or JSON; without, no failure may be high.")
@click.option(
    "--run",
    "run_ids",
    type=options.TEXT,
    metavar="ID",
    multiple=True,
    help="Only this run; may be given several times.",
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N of the runs.")
@options.form_of("table", "json")
@options.output_file
@options.profile
@options.config
@options.quiet
def command(**given: Any) -> int:
    """Tell whether runs meet a policy, rule by rule; exit with 1 when one does not.

    PATH is a trace, a session file, a folder of either, a verdict (diagnosis.json), a history, or a file of
    evaluations.
    """
    return check(Request(**given))
