"""Every collector against recorded outputs: what was printed, and the facts that must come of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from observed import check_observed

from gpuprov.model.address import pattern_of
from gpuprov.model.facets import FACETS
from gpuprov.model.fact import Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, family_of, observe
from gpuprov.probe.collectors import BY_NAME, COLLECTORS
from gpuprov.probe.request import ProbeRequest

FOLDER = Path(__file__).parents[2] / "cases" / "probe"
CASES = [case for path in sorted(FOLDER.glob("*.yaml")) for case in yaml.safe_load(path.read_text())]


def output(given_: dict) -> CollectorOutput:
    return CollectorOutput(
        command="", stdout=given_.get("stdout", ""), stderr=given_.get("stderr", ""), status=given_.get("status", 0)
    )


def recording(case: dict) -> Recording:
    outputs = {name: output(given_) for name, given_ in case.get("context", {}).items()}
    outputs[case["collector"]] = output(case)
    return Recording(host="h", os="", arch="", taken=case.get("taken", ""), collectors=outputs)


def name_of(case: dict) -> str:
    return f"{case['collector']}: {case['id']}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_an_output_gives_the_facts_it_shows(case: dict[str, Any]) -> None:
    found = observe(BY_NAME[case["collector"]], recording(case))
    check_observed(found, case["expect"])


def test_every_collector_that_gives_facts_has_a_case_where_it_does_not_know() -> None:
    unknowing = {
        case["collector"]
        for case in CASES
        if any(isinstance(expected, dict) and "unknown" in expected for expected in case["expect"].values())
    }
    assert {c.name for c in COLLECTORS if c.gives} - unknowing == set()


def test_every_facet_is_given_by_the_collector_that_the_table_names() -> None:
    missing = [f.pattern for f in FACETS if f.collector not in BY_NAME or f.pattern not in BY_NAME[f.collector].gives]
    assert missing == []


def test_collectors_give_nothing_that_the_table_does_not_know_and_nothing_twice() -> None:
    given_ = [address for c in COLLECTORS for address in c.gives]
    assert sorted(given_) == sorted(f.pattern for f in FACETS)


def test_what_a_parser_finds_is_what_its_collector_gives() -> None:
    for case in CASES:
        collector = BY_NAME[case["collector"]]
        for address in observe(collector, recording(case)):
            if address.endswith("[*]"):
                assert any(family_of(g) == address.removesuffix("[*]") for g in collector.gives)
            else:
                assert pattern_of(address) in collector.gives, name_of(case)


@pytest.mark.parametrize("collector", [c for c in COLLECTORS if c.gives], ids=lambda c: c.name)
def test_a_collector_that_did_not_run_or_did_not_end_gives_only_unknown(collector: Collector) -> None:
    for outputs in ({}, {collector.name: output({"status": 124})}):
        found = observe(collector, Recording(host="h", os="", arch="", taken="", collectors=outputs))
        assert found
        assert all(isinstance(o, Unknown) for o in found.values())


def test_no_command_writes_into_a_file_of_the_host() -> None:
    request = ProbeRequest(paths=("/etc/hosts",), services=("x",))
    for collector in COLLECTORS:
        text = collector.command(request).replace(">/dev/null", "").replace(">&2", "").replace(">&1", "")
        text = text.replace(">&3", "").replace("<>", "")
        assert ">" not in text.replace("->", ""), collector.name
