"""What a call of the API asks of IAM: its action on each of its resources, tagging what it makes, and passing a role.

Follows AWS's Service Authorization Reference (table.py); for tags on creation, the EC2 User Guide, "Grant permission to
tag resources during creation"; for roles, the IAM User Guide, "Grant permissions to pass a role" (read 2026-11-30).
"""

import re
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from gpuprov.lab.aws.policy import table
from gpuprov.lab.aws.policy.language import Asked
from gpuprov.lab.aws.request import ApiRequest

_FREE: Final = frozenset({"sts:GetCallerIdentity"})
"""No permission is asked for it (STS API Reference, GetCallerIdentity)."""
_ALSO_NEW: Final = {
    "ec2:RunInstances": ("volume",),
    "ec2:AuthorizeSecurityGroupIngress": ("security-group-rule",),
    "ec2:AuthorizeSecurityGroupEgress": ("security-group-rule",),
}
"""What a call makes besides the resources that its row calls required: a volume for the image's root, a rule."""
_PASSING: Final = frozenset(
    {
        "ec2:RunInstances",
        "ec2:AssociateIamInstanceProfile",
        "ec2:ReplaceIamInstanceProfileAssociation",
        "iam:AddRoleToInstanceProfile",
    }
)
_TAGGING: Final = {"iam:CreateRole": "iam:TagRole", "iam:CreateInstanceProfile": "iam:TagInstanceProfile"}
"""Calls of IAM that may bring tags, and the right that this takes (IAM User Guide, Tags for IAM resources)."""
_NEW: Final = "new"
"""Stands for the id of a resource that the call makes."""
_SPECIFIED: Final = re.compile(r"TagSpecification\.(\d+)\.ResourceType")


class UnknownActionError(Exception):
    """An action that the table does not have."""


class Memory(Protocol):
    """What is asked of the account's memory."""

    account: str

    def resources(self, call: ApiRequest) -> Mapping[str, tuple[str, ...]]:
        """Type of resource -> ids that the call names."""

    def tags(self, identity: str) -> Mapping[str, str]:
        """Tags of a resource of EC2."""

    def type_of(self, instance: str) -> str:
        """Type of an instance; empty for none."""

    def passed_role(self, call: ApiRequest) -> str:
        """ARN of the role that a call passes; empty for none."""

    def boundary(self, role: str) -> str:
        """ARN of a role's permissions boundary; empty for none."""

    def file_system(self, call: ApiRequest) -> str:
        """Id of the file system of EFS that a call is about; empty for none."""

    def share_tags(self, system: str) -> Mapping[str, str]:
        """Tags of a file system of EFS."""

    def key(self, call: ApiRequest) -> tuple[str, tuple[str, ...]]:
        """ARN of the key of KMS that a call is about, and its aliases; empty for none."""


def read(call: ApiRequest, memory: Memory) -> tuple[Asked, ...]:
    """Everything that a call asks for; nothing when it needs no permission.

    Raises:
        UnknownActionError: the table does not have the action: nobody can say what it asks for.
    """
    name = f"{call.service}:{call.action}"
    if name in _FREE:
        return ()
    row = table.action(name)
    if row is None:
        raise UnknownActionError(name)
    if call.service == "s3":
        return tuple(_of_s3(call, row))
    given = {key: (value,) for key, value in _request_context(call, name).items()}
    found: list[Asked] = []
    if call.service == "ec2":
        found += _of_ec2(call, name, row, given, memory)
        found += _tags_of_what_is_made(call, memory)
    elif call.service == "iam":
        found += _of_iam(call, name, row, given, memory)
    elif call.service == "elasticfilesystem":
        found += _of_efs(call, name, row, given, memory)
    elif call.service == "kms":
        found.append(_of_kms(name, given, *memory.key(call)))
    else:
        found.append(_plain(call, name, row, given, memory.account))
    role = memory.passed_role(call) if name in _PASSING else ""
    if role:
        to = {"iam:PassedToService": ("ec2.amazonaws.com",)} if call.service == "ec2" else {}
        found.append(Asked(action="iam:PassRole", resource=role, context=to))
    return tuple(found)


def _of_ec2(
    call: ApiRequest, name: str, row: table.Action, given: Mapping[str, tuple[str, ...]], memory: Memory
) -> Iterator[Asked]:
    ids = memory.resources(call)
    touched = False
    for kind in row.types:
        there = ids.get(kind.name, ())
        new = (kind.required and not there) or kind.name in _ALSO_NEW.get(name, ())
        for identity in (*there, *((_NEW,) if new else ())):
            touched = True
            context = dict(given)
            if identity == _NEW:
                context |= _asked_tags(_specified(call, kind.name))
                context |= {"ec2:InstanceType": (value,)} if (value := call.parameters.get("InstanceType")) else {}
            else:
                context |= {f"aws:ResourceTag/{key}": (value,) for key, value in memory.tags(identity).items()}
                context |= {"ec2:InstanceType": (type_,)} if (type_ := memory.type_of(identity)) else {}
                context |= _asked_tags(_plain_tags(call)) if call.action in {"CreateTags", "DeleteTags"} else {}
            yield Asked(
                action=name,
                resource=_arn("ec2", kind.name, identity, call, memory.account),
                context=_kept(context, kind.keys | row.keys),
            )
    if not touched:
        yield Asked(action=name, resource="*", context=_kept(given, row.keys))


def _tags_of_what_is_made(call: ApiRequest, memory: Memory) -> Iterator[Asked]:
    row = table.action("ec2:CreateTags")
    if row is None or call.action == "CreateTags":
        return
    keys = {kind.name: kind.keys for kind in row.types}
    for parameter, kind in call.parameters.items():
        if _SPECIFIED.fullmatch(parameter) and (tags := _specified(call, kind)):
            context = {
                **_asked_tags(tags),
                "ec2:CreateAction": (call.action,),
                "aws:RequestedRegion": (call.region,),
            }
            yield Asked(
                action="ec2:CreateTags",
                resource=_arn("ec2", kind, _NEW, call, memory.account),
                context=_kept(context, keys[kind] | row.keys),
            )


def _of_iam(
    call: ApiRequest, name: str, row: table.Action, given: Mapping[str, tuple[str, ...]], memory: Memory
) -> Iterator[Asked]:
    names = {"role": call.parameters.get("RoleName"), "instance-profile": call.parameters.get("InstanceProfileName")}
    tags = _asked_tags(_member_tags(call))
    role = names["role"]
    bound = call.parameters.get("PermissionsBoundary") or (memory.boundary(role) if role else "")
    context = {**given, **tags} | ({"iam:PermissionsBoundary": (bound,)} if bound else {})
    resources = [
        _arn("iam", kind.name, str(names[kind.name]), call, memory.account) for kind in row.types if names[kind.name]
    ]
    for resource in resources or ["*"]:
        keys = row.keys.union(*(kind.keys for kind in row.types))
        yield Asked(action=name, resource=resource, context=_kept(context, keys))
        if tags and name in _TAGGING:
            yield Asked(action=_TAGGING[name], resource=resource, context=_kept(context, keys))


def _of_s3(call: ApiRequest, row: table.Action) -> Iterator[Asked]:
    context = {"aws:RequestedRegion": (call.region,)}
    bucket, _, key = call.path.lstrip("/").partition("/")
    kinds = {kind.name for kind in row.types}
    resource = "*" if not bucket else f"arn:aws:s3:::{bucket}"
    if "object" in kinds:
        # DeleteObjects names its keys in its body: it is asked for all of the bucket.
        resource += f"/{key or '*'}"
    yield Asked(action=f"s3:{call.action}", resource=resource, context=context)
    if source := urllib.parse.unquote(call.parameters.get("CopySource", "")).lstrip("/"):
        # Who copies reads the source.
        yield Asked(action="s3:GetObject", resource=f"arn:aws:s3:::{source.partition('?')[0]}", context=context)
    if call.action == "DeleteObject" and not key:
        yield Asked(action="s3:DeleteObjectVersion", resource=resource, context=context)


def _of_efs(
    call: ApiRequest, name: str, row: table.Action, given: Mapping[str, tuple[str, ...]], memory: Memory
) -> Iterator[Asked]:
    asked = _asked_tags(_member_tags(call))
    keys = row.keys.union(*(kind.keys for kind in row.types))
    if call.action == "CreateFileSystem":
        resource = _arn("elasticfilesystem", "file-system", _NEW, call, memory.account)
        yield Asked(action=name, resource="*", context=_kept({**given, **asked}, keys))
        yield Asked(action="elasticfilesystem:TagResource", resource=resource, context={**given, **asked})
        return
    system = memory.file_system(call)
    context = {**given, **asked, **{f"aws:ResourceTag/{k}": (v,) for k, v in memory.share_tags(system).items()}}
    resource = _arn("elasticfilesystem", "file-system", system, call, memory.account) if system else "*"
    yield Asked(action=name, resource=resource, context=_kept(context, keys))


def _of_kms(name: str, given: Mapping[str, tuple[str, ...]], key: str, aliases: Sequence[str]) -> Asked:
    # Of the key itself, whatever the call names it by; AWS KMS Developer Guide, Condition keys, kms:ResourceAliases: of
    # every operation on a key, though the Service Authorization Reference leaves it out (read 2026-11-30).
    names = {"kms:ResourceAliases": tuple(aliases)} if aliases else {}
    return Asked(action=name, resource=key or "*", context={**given, **names})


def _plain(call: ApiRequest, name: str, row: table.Action, given: Mapping[str, tuple[str, ...]], account: str) -> Asked:
    if name == "ssm:GetParameter":
        # Public ones have no account in their ARN; taken as known, not looked up.
        parameter = call.parameters.get("Name", "").partition(":")[0]
        owner = "" if parameter.startswith("/aws/") else account
        arn = f"arn:aws:ssm:{call.region}:{owner}:parameter/{parameter.lstrip('/')}"
        return Asked(action=name, resource=arn, context=given)
    named = {"sts:AssumeRole": "RoleArn", "resource-groups:ListGroupResources": "Group"}.get(name, "")
    return Asked(action=name, resource=call.parameters.get(named, "*"), context=_kept(given, row.keys))


def _request_context(call: ApiRequest, name: str) -> dict[str, str]:
    # IAM and STS answer in one place; the region that a client signs for is that one.
    return {"aws:RequestedRegion": call.region} if not name.startswith("iam:") else {}


def _specified(call: ApiRequest, kind: str) -> dict[str, str]:
    """The tags that a call gives to what it makes of a kind."""
    found: dict[str, str] = {}
    for parameter, value in call.parameters.items():
        if _SPECIFIED.fullmatch(parameter) and value == kind:
            found |= _numbered(call.parameters, f"{parameter.removesuffix('.ResourceType')}.Tag")
    return found


def _plain_tags(call: ApiRequest) -> dict[str, str]:
    return _numbered(call.parameters, "Tag")


def _member_tags(call: ApiRequest) -> dict[str, str]:
    return _numbered(call.parameters, "Tags.member")


def _numbered(parameters: Mapping[str, str], head: str) -> dict[str, str]:
    form = re.compile(rf"{re.escape(head)}\.(\d+)\.Key")
    return {
        value: parameters.get(f"{head}.{match[1]}.Value", "")
        for name, value in parameters.items()
        if (match := form.fullmatch(name))
    }


def _asked_tags(tags: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    if not tags:
        return {}
    return {f"aws:RequestTag/{key}": (value,) for key, value in tags.items()} | {"aws:TagKeys": tuple(tags)}


def _kept(context: Mapping[str, tuple[str, ...]], keys: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """What the reference says that the request has: a condition on anything else must fail."""
    return {key: values for key, values in context.items() if table.has(keys, key)}


def _arn(service: str, kind: str, name: str, call: ApiRequest, account: str) -> str:
    known = {"Partition": "aws", "Region": call.region, "Account": account}
    return re.sub(r"\$\{(\w+)\}", lambda found: known.get(found[1], name), table.arn_form(service, kind))


def listed(values: Sequence[Any]) -> tuple[str, ...]:
    """Texts, each once, in order."""
    return tuple(dict.fromkeys(str(value) for value in values))
