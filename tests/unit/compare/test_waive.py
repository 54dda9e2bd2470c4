import pytest
from host_builders import edit, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.compare.waive import covers, expired, waive
from gpuprov.model.fact import Known
from gpuprov.model.waiver import Waiver
from gpuprov.want.expectations import expectations
from gpuprov.want.owned import owned_of

ADDRESS = 'package["docker.io"].version'


def waiver(facet: str, until: str = "2026-12-31") -> Waiver:
    return Waiver(facet=facet, reason="tested", until=until)


@pytest.mark.parametrize(
    ("facet", "covered"),
    [
        (ADDRESS, True),
        ('package["docker.io"]', True),
        ("package[*].version", True),
        ("package[*].held", False),
        ('package["docker"]', False),
        ("package", False),
        ("", False),
    ],
)
def test_what_a_waiver_covers(facet: str, *, covered: bool) -> None:
    assert covers(waiver(facet), ADDRESS) is covered


def test_a_plain_address_is_covered_by_itself_only() -> None:
    assert covers(waiver("host.kernel.release"), "host.kernel.release")
    assert not covers(waiver("host.kernel"), "host.kernel.release")


@pytest.mark.parametrize(
    ("today", "over"), [("2026-12-30", False), ("2026-12-31", False), ("2027-01-01", True), ("2027-10-01", True)]
)
def test_the_last_day_counts(today: str, *, over: bool) -> None:
    assert expired(waiver("x", "2026-12-31"), today) is over


def test_a_waived_finding_stays_and_does_not_count() -> None:
    want = make_want()
    host = edit(satisfied(want), {ADDRESS: Known("1"), "gpu.count": Known(7)})
    findings = compare_want(expectations(want, owned_of(host)), host)
    first = waiver("package[*].version")
    found = waive(findings, [waiver(ADDRESS, "2026-01-01"), first, waiver("gpu.models")], today="2026-11-30")
    assert [(f.address, f.waiver, f.counts) for f in found] == [
        (ADDRESS, first, False),
        ("gpu.count", None, True),
    ]
