"""Both configuration files: the real Collector takes them, and the one for scale keeps a trace together."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from fanned_out import post, sealed
from real_programs import ROOT, Collector, Serving
from spool_support import trace_request

from analyzer.session.codec import read_session
from critiqor_otel.spool.sealed_index import spans_of

SCALE = ROOT / "collector-config-scale.yaml"


@pytest.mark.parametrize("name", ["collector-config.yaml", "collector-config-scale.yaml"])
def test_the_collector_takes_the_configuration(name: str, collector_binary: Path) -> None:
    done = subprocess.run(
        [collector_binary, "validate", "--config", ROOT / name], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_trace_goes_to_one_of_several_receivers_whole(collector_binary: Path, tmp_path: Path) -> None:
    servers = [Serving(tmp_path / f"runs-{number}") for number in range(3)]
    places = {f"CRITIQOR_OTLP_ENDPOINT_{number}": server.otlp for number, server in enumerate(servers, 1)}
    collector = Collector(collector_binary, SCALE, environment=places)
    for trace in range(1, 31):
        for number in range(1, 5):  # the spans of a trace come one by one
            body = trace_request(number, trace=trace, root=number == 1, agent=number == 1)
            post(f"{collector.endpoint}/v1/traces", body, "application/x-protobuf")
    assert collector.stop() == 0
    for server in servers:
        server.settle()

    found: Counter[tuple[int, str, int]] = Counter()
    for number, server in enumerate(servers):
        for content in sealed(server.runs).values():
            for trace_id, span_ids in spans_of(read_session(content)).items():
                found[number, trace_id, len(span_ids)] += 1
    assert sorted(trace_id for _, trace_id, _ in found) == [f"{trace:032x}" for trace in range(1, 31)]
    assert {count for *_, count in found} == {4}
    assert {number for number, *_ in found} == {0, 1, 2}
