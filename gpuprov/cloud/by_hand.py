"""What somebody changed in the account past the engine: read from AWS, told, and left to the next update.

The engine sees what it reads of its own resources. What it does not see is something beside them that opens them up:
one more rule in a security group, one more policy on a role. That is looked for here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from gpuprov.cloud.events import change_of
from gpuprov.cloud.lookup import pages
from gpuprov.cloud.lookup_natural import Client
from gpuprov.cloud.new_groups import GROUP
from gpuprov.cloud.state import PROVIDER_PREFIX, STACK_TYPE, StackState
from gpuprov.model.diagnostic import Diagnostic, Severity
from gpuprov.model.resource import ResourceAction, ResourceChange

if TYPE_CHECKING:
    from pulumi.automation.events import EngineEvent

CODE: Final = "GP-CLOUD-065"
_ROLE: Final = "aws:iam/role:Role"
_ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
_RULES: Final = "aws:vpc/securityGroup"
_READ: Final = {"update": ResourceAction.UPDATE, "delete": ResourceAction.DELETE}
"""The engine's words for what a refresh finds: other properties, or nothing (engine 3.274.1, tried 2026-11-30)."""


class ByHand:
    """Collects what a refresh of the engine finds, beside the reader of its events."""

    def __init__(self) -> None:
        self.changes: list[ResourceChange] = []

    def beside(self, on_event: "Callable[[EngineEvent], None]") -> "Callable[[EngineEvent], None]":
        """A taker of events that hands each on and keeps what was found."""

        def take(event: "EngineEvent") -> None:
            on_event(event)
            if event.res_outputs_event is not None:
                meta = event.res_outputs_event.metadata
                action = _READ.get(str(getattr(meta.op, "value", meta.op)))
                if action and meta.type != STACK_TYPE and not meta.type.startswith(PROVIDER_PREFIX):
                    self.changes.append(change_of(meta, action))

        return take


def told_by_hand(changes: Iterable[ResourceChange]) -> tuple[Diagnostic, ...]:
    """One warning for each resource that the engine found otherwise than it left it."""
    return tuple(
        _warning(
            change.address,
            f"{change.address} was deleted by hand"
            if change.action is ResourceAction.DELETE
            else f"{change.address} was changed by hand: {', '.join(change.changes) or 'its properties'}",
            "`gpuprov up --target cloud --refresh` makes it as the spec says again",
        )
        for change in sorted(changes, key=lambda change: change.address)
    )


def opened_by_hand(client: Client, state: StackState) -> tuple[Diagnostic, ...]:
    """One warning for each rule and policy that stands beside the stack's own and lets more in, or more be done."""
    rows = state.resources.values()
    groups = {row.id: row.address for row in rows if row.type == GROUP}
    roles = {row.id: row.address for row in rows if row.type == _ROLE}
    rules = {row.id for row in rows if row.type.startswith(_RULES)}
    policies = {row.id for row in rows if row.type == _ROLE_POLICY}
    return (*_rules(client, groups, rules), *_policies(client, roles, policies))


def _rules(client: Client, groups: Mapping[str, str], known: Iterable[str]) -> Iterator[Diagnostic]:
    if not groups:
        return
    ours = set(known)
    asked = {"Filters": [{"Name": "group-id", "Values": sorted(groups)}]}
    for page in pages(client("ec2"), "describe_security_group_rules", asked):
        for rule in page["SecurityGroupRules"]:
            identity = rule["SecurityGroupRuleId"]
            if identity in ours:
                continue
            way = "egress" if rule["IsEgress"] else "ingress"
            who = rule.get("CidrIpv4") or rule.get("CidrIpv6") or rule.get("ReferencedGroupInfo", {}).get("GroupId")
            yield _warning(
                groups[rule["GroupId"]],
                f"a rule was added by hand: {way} {_ports(rule)} {'to' if rule['IsEgress'] else 'from'}"
                f" {who or 'a prefix list'}",
                f"take it away: `aws ec2 revoke-security-group-{way} --group-id {rule['GroupId']}"
                f" --security-group-rule-ids {identity}`, or write it into targets.cloud.network",
            )


def _ports(rule: Mapping[str, object]) -> str:
    if rule.get("IpProtocol") == "-1":
        return "of everything"
    first, last = rule.get("FromPort"), rule.get("ToPort")
    return f"{rule.get('IpProtocol')} {first}" if first == last else f"{rule.get('IpProtocol')} {first}-{last}"


def _policies(client: Client, roles: Mapping[str, str], known: Iterable[str]) -> Iterator[Diagnostic]:
    ours, iam = set(known), client("iam")
    for role, address in roles.items():
        try:
            inline = [name for page in _listed(iam, "list_role_policies", role) for name in page["PolicyNames"]]
            attached = [
                row["PolicyArn"]
                for page in _listed(iam, "list_attached_role_policies", role)
                for row in page["AttachedPolicies"]
            ]
        except iam.exceptions.NoSuchEntityException:  # the refresh tells of a role that is gone
            continue
        for name in inline:
            if f"{role}:{name}" not in ours:
                yield _warning(
                    address,
                    f"the role {role} was given a policy by hand: {name}",
                    f"take it away: `aws iam delete-role-policy --role-name {role} --policy-name {name}`",
                )
        for arn in attached:
            yield _warning(
                address,
                f"the role {role} was given a policy by hand: {arn}",
                f"take it away: `aws iam detach-role-policy --role-name {role} --policy-arn {arn}`",
            )


def _listed(iam: Any, operation: str, role: str) -> Iterator[Mapping[str, Any]]:
    yield from iam.get_paginator(operation).paginate(RoleName=role)


def _warning(address: str, summary: str, hint: str) -> Diagnostic:
    return Diagnostic(code=CODE, severity=Severity.WARNING, address=address, summary=summary, hint=hint)
