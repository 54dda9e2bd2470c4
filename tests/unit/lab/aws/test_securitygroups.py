import re

import pytest

from gpuprov.lab.aws.securitygroups import InstanceRules, Rule, table
from gpuprov.lab.names import LabNames

NAMES = LabNames("abc")


def chains(text: str) -> dict[str, list[str]]:
    """Chain -> its lines."""
    found = re.findall(r"  chain (\w+) \{\n(.*?)  \}\n", text, flags=re.DOTALL)
    return {name: [line.strip() for line in lines.splitlines()] for name, lines in found}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (("tcp", 22, 22, "192.0.2.1/32"), "ip saddr 192.0.2.1/32 tcp dport 22-22 accept"),
        (("tcp", 9400, 9410, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 tcp dport 9400-9410 accept"),
        (("udp", 0, 65535, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 udp dport 0-65535 accept"),
        (("tcp", None, None, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 tcp dport 0-65535 accept"),
        (("tcp", -1, -1, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 tcp dport 0-65535 accept"),
        (("-1", None, None, "0.0.0.0/0"), "ip saddr 0.0.0.0/0 accept"),
        (("-1", 22, 22, "0.0.0.0/0"), "ip saddr 0.0.0.0/0 accept"),
        (("icmp", -1, -1, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 meta l4proto icmp accept"),
        (("icmp", 8, -1, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 meta l4proto icmp icmp type 8 accept"),
        (("icmp", 3, 4, "10.0.0.0/8"), "ip saddr 10.0.0.0/8 meta l4proto icmp icmp type 3 icmp code 4 accept"),
    ],
)
def test_a_rule_in_ec2s_terms_is_one_match(rule: tuple[str, int | None, int | None, str], expected: str) -> None:
    protocol, first, last, cidr = rule
    permission = Rule(protocol=protocol, from_port=first, to_port=last, cidr=cidr)
    found = chains(table(NAMES, {"gpl-abc-i1": InstanceRules(instance_id="i-1", ingress=(permission,))}))
    assert found["to_0"] == [expected, "counter drop"]
    assert found["from_0"] == ["counter drop"]


def test_egress_looks_at_where_a_packet_goes() -> None:
    permission = Rule(protocol="tcp", from_port=443, to_port=443, cidr="0.0.0.0/0")
    found = chains(table(NAMES, {"gpl-abc-i1": InstanceRules(instance_id="i-1", egress=(permission,))}))
    assert found["from_0"] == ["ip daddr 0.0.0.0/0 tcp dport 443-443 accept", "counter drop"]
    assert found["to_0"] == ["counter drop"]


def test_every_packet_to_or_from_an_instance_ends_in_a_chain_that_drops() -> None:
    links = {f"gpl-abc-i{number}": InstanceRules(instance_id=f"i-{number}") for number in (4, 7)}
    found = chains(table(NAMES, links))
    for hook, word, side in (("leaving", "iifname", "from"), ("entering", "oifname", "to")):
        first, others, known, *jumps, last = found[hook]
        assert first.startswith("type filter hook forward priority ")
        assert others == f'{word} != "gpl-abc-i*" accept'
        assert known == "ct state established,related accept"
        assert jumps == [f'{word} "gpl-abc-i4" goto {side}_0', f'{word} "gpl-abc-i7" goto {side}_1']
        assert last == "counter drop"


def test_without_instances_everything_is_closed_and_the_earlier_table_goes_in_the_same_step() -> None:
    text = table(NAMES, {})
    lines = text.splitlines()
    assert lines[:3] == ["table inet gpl_abc_groups", "delete table inet gpl_abc_groups", "table inet gpl_abc_groups {"]
    assert {name: lines[-1] for name, lines in chains(text).items()} == dict.fromkeys(
        ("leaving", "entering"), "counter drop"
    )


def test_a_protocol_that_the_lab_does_not_know_is_refused() -> None:
    rules = InstanceRules(
        instance_id="i", ingress=(Rule(protocol="50", from_port=None, to_port=None, cidr="10.0.0.0/8"),)
    )
    with pytest.raises(ValueError, match="'50'"):
        table(NAMES, {"l": rules})
