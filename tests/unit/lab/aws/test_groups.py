from types import SimpleNamespace as Row
from typing import Any

from gpuprov.lab.aws.groups import members, rules_of, rules_of_vpc
from gpuprov.lab.aws.securitygroups import InstanceRules, Rule


def rule(protocol: str, first: int | None, last: int | None, *, cidr: str = "", group: str = "", six: str = "") -> Any:
    side = {"CidrIp": cidr} if cidr else {"CidrIpv6": six} if six else {}
    source = {"GroupId": group} if group else {}
    return Row(ip_protocol=protocol, from_port=first, to_port=last, ip_range=side, source_group=source)


SSH = rule("tcp", 22, 22, cidr="192.0.2.0/24")
WEB = Row(
    id="sg-web",
    ingress_rules=[SSH, rule("tcp", 443, 443, six="::/0")],
    egress_rules=[rule("-1", None, None, cidr="0.0.0.0/0")],
)
DATA = Row(id="sg-data", ingress_rules=[rule("tcp", 5432, 5432, group="sg-web"), SSH], egress_rules=[])


def world() -> tuple[Any, list[Any]]:
    nics = [
        Row(private_ip_address="10.0.0.5", group_set=[WEB]),
        Row(private_ip_address="10.0.0.4", group_set=[WEB, DATA]),
    ]
    instances = [Row(id=f"i-{number}", vpc_id="vpc-1", nics={0: nic}) for number, nic in enumerate(nics)]
    return Row(enis={str(number): nic for number, nic in enumerate(nics)}), instances


def test_the_members_of_a_group_are_the_addresses_of_its_interfaces() -> None:
    backend, _ = world()
    assert members(backend, "sg-web") == ("10.0.0.4", "10.0.0.5")
    assert members(backend, "sg-data") == ("10.0.0.4",)
    assert members(backend, "sg-none") == ()


def test_all_groups_of_an_instance_count_together_and_once() -> None:
    backend, instances = world()
    ssh = Rule(protocol="tcp", from_port=22, to_port=22, cidr="192.0.2.0/24")
    sql = [Rule(protocol="tcp", from_port=5432, to_port=5432, cidr=f"10.0.0.{end}/32") for end in (4, 5)]
    out = Rule(protocol="-1", from_port=None, to_port=None, cidr="0.0.0.0/0")
    assert rules_of(backend, instances[0]) == InstanceRules(instance_id="i-0", ingress=(ssh,), egress=(out,))
    assert rules_of(backend, instances[1]) == InstanceRules(instance_id="i-1", ingress=(*sql, ssh), egress=(out,))


def test_instances_of_other_vpcs_are_passed_over() -> None:
    backend, instances = world()
    instances[0].vpc_id = "vpc-2"
    assert [each.instance_id for each in rules_of_vpc(backend, "vpc-1", instances)] == ["i-1"]
