"""Security groups as nftables rules in a VPC's router: stateful, closed for what no rule lets pass.

An instance's packets pass two chains: `leaving` by the link they come from, `entering` by the link they go to. A packet
between two instances needs a rule in both. What belongs to a connection that a rule let pass, passes, and goes on to
pass when the rule is taken away, as on AWS (User Guide, "Security group connection tracking", 2026-11-30).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuprov.lab.names import LabNames

_ANY = "-1"
_PRIORITY_LEAVING = 10
_PRIORITY_ENTERING = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One permission of a security group, in EC2's own terms."""

    protocol: str
    """tcp | udp | icmp | -1 (all)."""
    from_port: int | None
    """First port; the ICMP type; -1 or None: all."""
    to_port: int | None
    """Last port; the ICMP code; -1 or None: all."""
    cidr: str
    """The other side's IPv4 range."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRules:
    """What all security groups of an instance let pass, together."""

    instance_id: str
    ingress: Sequence[Rule] = field(default_factory=tuple)
    egress: Sequence[Rule] = field(default_factory=tuple)


def table(names: LabNames, links: Mapping[str, InstanceRules]) -> str:
    """Return the nftables text that puts a VPC's rules in place of the earlier ones, in one step.

    Args:
        names: the lab's names.
        links: router's end of an instance's link -> the instance's rules. A link that is not named lets nothing pass.

    Raises:
        ValueError: a protocol that the lab does not know.
    """
    name = names.groups_table
    chains = []
    for number, (_, rules) in enumerate(links.items()):
        chains.append(_chain(f"from_{number}", [_match(rule, "daddr") for rule in rules.egress]))
        chains.append(_chain(f"to_{number}", [_match(rule, "saddr") for rule in rules.ingress]))
    leaving = [f'iifname "{link}" goto from_{number}' for number, link in enumerate(links)]
    entering = [f'oifname "{link}" goto to_{number}' for number, link in enumerate(links)]
    every = f"{names.instance_links}*"
    hooks = _hook("leaving", _PRIORITY_LEAVING, f'iifname != "{every}" accept', leaving)
    hooks += _hook("entering", _PRIORITY_ENTERING, f'oifname != "{every}" accept', entering)
    return f"table inet {name}\ndelete table inet {name}\ntable inet {name} {{\n{''.join(chains)}{hooks}}}\n"


def _chain(name: str, matches: Sequence[str]) -> str:
    """Return a chain that accepts what matches and drops the rest."""
    lines = "".join(f"    {match} accept\n" for match in matches)
    return f"  chain {name} {{\n{lines}    counter drop\n  }}\n"


def _hook(name: str, priority: int, others: str, jumps: Sequence[str]) -> str:
    """Return a chain on the way of every packet; one accepted by it still meets the next one."""
    lines = "".join(f"    {line}\n" for line in (others, "ct state established,related accept", *jumps))
    return f"  chain {name} {{\n    type filter hook forward priority {priority};\n{lines}    counter drop\n  }}\n"


def _match(rule: Rule, side: str) -> str:
    """Return the match of one permission."""
    where = f"ip {side} {rule.cidr}"
    first = None if rule.from_port in (None, -1) else rule.from_port
    last = None if rule.to_port in (None, -1) else rule.to_port
    if rule.protocol == _ANY:
        return where
    if rule.protocol in ("tcp", "udp"):
        ports = f"{first or 0}-{65535 if last is None else last}"
        return f"{where} {rule.protocol} dport {ports}"
    if rule.protocol == "icmp":
        kind = "" if first is None else f" icmp type {first}"
        code = "" if last is None or first is None else f" icmp code {last}"
        return f"{where} meta l4proto icmp{kind}{code}"
    raise ValueError(f"a security group's protocol {rule.protocol!r}; the lab knows tcp, udp, icmp and -1")
