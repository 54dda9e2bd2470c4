import json
from dataclasses import replace

from host_builders import edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.document.canonical import canonical_json
from gpuprov.document.envelope import open_document, seal
from gpuprov.model.fact import Known
from gpuprov.model.snapshot import NotObserved
from gpuprov.model.waiver import Waiver
from gpuprov.parity.driver import driver_facts
from gpuprov.parity.report import report_body
from gpuprov.parity.types import Compared, Parity, Terms
from gpuprov.parity.verdict import judge
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

WANT = make_want()


def make_parity() -> Parity:
    compared = []
    for name in ("node-1", "node-2"):
        host = edit(satisfied(WANT), {"gpu.count": Known(7), 'package["docker.io"].version': Known("1")})
        host = replace(host, host=name)
        findings = compare_want(expectations(WANT, owned_of(host)), host)
        compared.append(Compared(host=name, findings=findings, facets=50, driver=driver_facts(host), taken=host.taken))
    waivers = (
        Waiver(facet="package[*].version", reason="agreed", until="2027-01-01"),
        Waiver(facet="host.os", reason="was moved", until="2026-11-01"),
    )
    return judge(
        compared,
        Terms(today="2026-11-30", waivers=waivers, between=("lock", "target:onprem")),
        not_observed=[NotObserved(host="node-3", code="GP-SSH-001", reason="it does not answer")],
    )


def test_a_report_is_a_document_that_comes_back() -> None:
    body = report_body(make_parity())
    text = seal("Report", body)
    assert canonical_json(open_document(text, "report.json", "Report")) == canonical_json(body)


def test_a_report_says_what_the_verdict_says() -> None:
    body = json.loads(json.dumps(report_body(make_parity())))
    assert (body["status"], body["hosts"], body["facets"]) == (7, ["node-1", "node-2"], 100)
    assert [finding["address"] for finding in body["findings"]] == ["gpu.count", "gpu.count"]
    assert {finding["host"] for finding in body["waived"]} == {"node-1", "node-2"}
    assert body["waived"][0]["waiver"]["reason"] == "agreed"
    assert body["not_compared"] == [
        {"host": "node-3", "code": "GP-SSH-001", "reason": "it does not answer", "detail": "", "hint": ""}
    ]
    assert body["rows"] == [
        {"address": "gpu.count", "finding": body["findings"][0]["id"], "hosts": ["node-1", "node-2"]}
    ]
    assert body["groups"] == [{"hosts": ["node-1", "node-2"], "findings": [body["findings"][0]["id"]]}]


def test_a_report_says_what_was_compared_when_and_which_waivers_are_over() -> None:
    body = report_body(make_parity())
    assert (body["between"], body["taken"]) == (["lock", "target:onprem"], "2026-11-30T00:00:00Z")
    (late,) = body["waivers"]
    assert (late["facet"], late["trouble"], late["counts"]) == ("host.os", "expired", False)
    assert late["address"] == "parity.waivers[1]"


def test_a_report_holds_the_four_facts_of_the_driver_once_for_hosts_that_share_them() -> None:
    (driver,) = report_body(make_parity())["drivers"]
    assert driver["hosts"] == ["node-1", "node-2"]
    assert driver["state"] == "equal"
    for fact in ("package", "on_disk", "loaded", "nvml"):
        assert driver[fact] == {"known": "580.95.05"}


def test_every_id_in_groups_and_rows_is_that_of_a_finding() -> None:
    body = report_body(make_parity())
    ids = {finding["id"] for finding in body["findings"]}
    assert {row["finding"] for row in body["rows"]} <= ids
    assert {name for group in body["groups"] for name in group["findings"]} <= ids
