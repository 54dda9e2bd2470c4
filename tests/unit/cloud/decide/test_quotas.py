from gpuprov.catalog.load import rows
from gpuprov.catalog.rows import InstanceRow
from gpuprov.cloud.decide.quotas import counted_types, judge_quotas, needed

P, G = "L-417A185B", "L-DB2E81BA"
SPOT = "L-7212CCBC"


def test_what_is_needed_is_counted_by_family_and_market() -> None:
    new = [
        ("a", "p5.48xlarge", "on-demand"),
        ("b", "p5.48xlarge", "spot"),
        ("c", "g6.xlarge", "on-demand"),
        ("d", "g6.xlarge", "on-demand"),
        ("e", "p5.48xlarge", "capacity-block"),
        ("f", "c7i.large", "on-demand"),
        ("g", "nobody.knows", "on-demand"),
    ]
    found = {need.row.code: (need.vcpus, need.hosts) for need in needed(new)}
    assert found == {P: (192, ("a",)), SPOT: (192, ("b",)), G: (8, ("c", "d"))}


def test_what_goes_first_is_counted_off() -> None:
    (need,) = needed([("a", "p5.48xlarge", "on-demand")], [("p4d.24xlarge", "on-demand"), ("g6.xlarge", "on-demand")])
    assert need.vcpus == 192 - 96


def test_the_limit_itself_is_enough_and_one_less_is_not() -> None:
    needs = needed([("a", "p5.48xlarge", "on-demand")])
    used = {("P", "on-demand"): 8, ("P", "spot"): 500}
    assert judge_quotas(needs, {P: 200}, used, region="us-east-1") == ()
    (told,) = judge_quotas(needs, {P: 199}, used, region="us-east-1")
    assert told.code == "GP-CLOUD-051"
    assert "is 199 vCPUs, and 200 are needed" in told.summary
    assert judge_quotas(needs, {P: None}, used, region="us-east-1") == ()


def test_every_gpu_type_counts_into_a_family() -> None:
    counted = counted_types()
    assert counted["p5.48xlarge"] == ("P", 192)
    assert {row.id for row in rows(InstanceRow) if row.quota and row.vcpus} == set(counted)
