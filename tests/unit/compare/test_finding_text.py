from dataclasses import replace

import pytest
from host_builders import edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.compare.finding_id import finding_id
from gpuprov.compare.finding_text import finding_value, read_finding
from gpuprov.document.shape import Fields
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.finding import Finding, FindingKind
from gpuprov.model.waiver import Waiver
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

WANT = make_want()
HOST = edit(
    satisfied(WANT),
    {
        "gpu.count": Known(7),
        "apt.dpkg": Unknown("timed out"),
        'package["libcuda1"].version': Absent(),
        "gpu.models": Known(["A", "B"]),
    },
)
FINDINGS = compare_want(expectations(WANT, owned_of(HOST)), HOST)
WAIVED = replace(FINDINGS[0], waiver=Waiver(facet="apt.dpkg", reason="r", until="2027-01-01"))


@pytest.mark.parametrize("finding", [*FINDINGS, WAIVED], ids=lambda finding: finding.address)
def test_a_finding_comes_back_as_it_was(finding: Finding) -> None:
    assert read_finding(Fields(finding_value(finding), "report.json")) == finding


def test_a_kind_that_is_none_is_refused() -> None:
    with pytest.raises(GpuprovError, match="`odd` was found"):
        read_finding(Fields({**finding_value(WAIVED), "kind": "odd"}, "report.json"))
    with pytest.raises(GpuprovError, match="two sides"):
        read_finding(Fields({**finding_value(WAIVED), "sides": ["lock"]}, "report.json"))


def test_an_id_stays_while_the_values_change() -> None:
    first = FINDINGS[0]
    same = [
        replace(first, observed=Known("other")),
        replace(first, kind=FindingKind.DIFFERENT, reason="other"),
        WAIVED,
    ]
    assert {finding_id(first)} == {finding_id(finding) for finding in same}
    assert finding_id(first).startswith("F-")
    assert len({finding_id(finding) for finding in FINDINGS}) == len(FINDINGS)


def test_an_id_differs_by_host_and_by_the_other_side() -> None:
    first = FINDINGS[0]
    ids = {finding_id(f) for f in (first, replace(first, host="node-2"), replace(first, sides=("node-9", "node-1")))}
    assert len(ids) == 3
