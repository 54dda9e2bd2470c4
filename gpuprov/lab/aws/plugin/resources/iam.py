"""IAM role, its inline policy, and the instance profile."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

import json
from urllib.parse import unquote

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_list, tag_map
from gpuprov.lab.aws.plugin.resources.handler import Known, Values, changed, tag_outputs

_GONE = ("NoSuchEntity",)


class Role:
    """aws:iam/role:Role."""

    noun = "IAM Role"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateRole with its tags."""
        made = call.iam(
            "create_role",
            RoleName=inputs["name"],
            Path=inputs["path"],
            AssumeRolePolicyDocument=inputs["assumeRolePolicy"],
            Description=inputs.get("description"),
            MaxSessionDuration=inputs["maxSessionDuration"],
            PermissionsBoundary=inputs.get("permissionsBoundary"),
            Tags=tag_list(inputs.get("tags")) or None,
        )
        call.made = str(made["Role"]["RoleName"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetRole with its tags and policies."""
        role = absent(lambda: call.iam("get_role", RoleName=identity)["Role"], _GONE)
        if role is None:
            return None
        attached = call.iam("list_attached_role_policies", RoleName=identity)["AttachedPolicies"]
        return {
            "arn": role["Arn"],
            "assumeRolePolicy": _document(role["AssumeRolePolicyDocument"], known.get("assumeRolePolicy")),
            "createDate": role["CreateDate"].isoformat(),
            "description": role.get("Description", ""),
            "managedPolicyArns": [each["PolicyArn"] for each in attached],
            "maxSessionDuration": role["MaxSessionDuration"],
            "name": role["RoleName"],
            "namePrefix": "",
            "path": role["Path"],
            "permissionsBoundary": role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn", ""),
            "uniqueId": role["RoleId"],
            **tag_outputs(tag_map(call.iam("list_role_tags", RoleName=identity)["Tags"])),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """The trust policy, the description, the session's length, the boundary, and tags."""
        trust = _document(olds.get("assumeRolePolicy"), news["assumeRolePolicy"])
        if trust != news["assumeRolePolicy"]:  # one that means the same is no change to the real provider either
            call.iam("update_assume_role_policy", RoleName=identity, PolicyDocument=news["assumeRolePolicy"])
        if changed("description", olds, news) or changed("maxSessionDuration", olds, news):
            call.iam(
                "update_role",
                RoleName=identity,
                Description=news.get("description", ""),
                MaxSessionDuration=news["maxSessionDuration"],
            )
        if changed("permissionsBoundary", olds, news):
            bound = news.get("permissionsBoundary")
            if bound:
                call.iam("put_role_permissions_boundary", RoleName=identity, PermissionsBoundary=bound)
            else:
                call.iam("delete_role_permissions_boundary", RoleName=identity)
        before, after = olds.get("tags") or {}, news.get("tags") or {}
        if dropped := sorted(before.keys() - after.keys()):
            call.iam("untag_role", RoleName=identity, TagKeys=dropped)
        if added := {key: value for key, value in after.items() if before.get(key) != value}:
            call.iam("tag_role", RoleName=identity, Tags=tag_list(added))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteRole, after taking it out of what would hold it back where that is asked for."""
        if known.get("forceDetachPolicies"):
            for name in absent(lambda: call.iam("list_role_policies", RoleName=identity)["PolicyNames"], _GONE) or ():
                call.iam("delete_role_policy", RoleName=identity, PolicyName=name)
        profiles = absent(
            lambda: call.iam("list_instance_profiles_for_role", RoleName=identity)["InstanceProfiles"], _GONE
        )
        for each in profiles or ():
            name = each["InstanceProfileName"]
            call.iam("remove_role_from_instance_profile", InstanceProfileName=name, RoleName=identity)
        gone(lambda: call.iam("delete_role", RoleName=identity), _GONE)


class RolePolicy:
    """aws:iam/rolePolicy:RolePolicy."""

    noun = "IAM Role Policy"

    def create(self, call: Call, inputs: Known) -> None:
        """PutRolePolicy; the id is the real provider's ROLE:POLICY."""
        self._put(call, inputs["role"], inputs["name"], inputs["policy"])
        call.made = f"{inputs['role']}:{inputs['name']}"

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetRolePolicy."""
        role, _, name = identity.partition(":")
        found = absent(lambda: call.iam("get_role_policy", RoleName=role, PolicyName=name), _GONE)
        if found is None:
            return None
        policy = _document(found["PolicyDocument"], known.get("policy"))
        return {"name": name, "namePrefix": "", "role": role, "policy": policy}

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """PutRolePolicy."""
        role, _, name = identity.partition(":")
        self._put(call, role, name, news["policy"])

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteRolePolicy."""
        role, _, name = identity.partition(":")
        gone(lambda: call.iam("delete_role_policy", RoleName=role, PolicyName=name), _GONE)

    @staticmethod
    def _put(call: Call, role: str, name: str, policy: str) -> None:
        """Write the policy."""
        call.iam("put_role_policy", RoleName=role, PolicyName=name, PolicyDocument=policy)


class InstanceProfile:
    """aws:iam/instanceProfile:InstanceProfile."""

    noun = "IAM Instance Profile"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateInstanceProfile, then AddRoleToInstanceProfile."""
        made = call.iam(
            "create_instance_profile",
            InstanceProfileName=inputs["name"],
            Path=inputs["path"],
            Tags=tag_list(inputs.get("tags")) or None,
        )
        call.made = str(made["InstanceProfile"]["InstanceProfileName"])
        if inputs.get("role"):
            call.iam("add_role_to_instance_profile", InstanceProfileName=call.made, RoleName=inputs["role"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """GetInstanceProfile."""
        profile = absent(
            lambda: call.iam("get_instance_profile", InstanceProfileName=identity)["InstanceProfile"], _GONE
        )
        if profile is None:
            return None
        return {
            "arn": profile["Arn"],
            "createDate": profile["CreateDate"].isoformat(),
            "name": profile["InstanceProfileName"],
            "namePrefix": "",
            "path": profile["Path"],
            "role": next((each["RoleName"] for each in profile["Roles"]), None),
            "uniqueId": profile["InstanceProfileId"],
            **tag_outputs(tag_map(profile.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """The role and tags."""
        if changed("role", olds, news):
            if olds.get("role"):
                self._remove(call, identity, olds["role"])
            if news.get("role"):
                call.iam("add_role_to_instance_profile", InstanceProfileName=identity, RoleName=news["role"])
        before, after = olds.get("tags") or {}, news.get("tags") or {}
        if dropped := sorted(before.keys() - after.keys()):
            call.iam("untag_instance_profile", InstanceProfileName=identity, TagKeys=dropped)
        if added := {key: value for key, value in after.items() if before.get(key) != value}:
            call.iam("tag_instance_profile", InstanceProfileName=identity, Tags=tag_list(added))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """RemoveRoleFromInstanceProfile, then DeleteInstanceProfile."""
        if known.get("role"):
            self._remove(call, identity, known["role"])
        gone(lambda: call.iam("delete_instance_profile", InstanceProfileName=identity), _GONE)

    @staticmethod
    def _remove(call: Call, identity: str, role: str) -> None:
        """Take a role out of a profile."""
        gone(lambda: call.iam("remove_role_from_instance_profile", InstanceProfileName=identity, RoleName=role), _GONE)


def _document(found: object, known: str | None) -> str:
    """Return a policy as text: the known text where it means the same, as the real provider keeps it."""
    document = json.loads(unquote(found)) if isinstance(found, str) else found
    if known is not None:
        try:
            if json.loads(known) == document:
                return known
        except ValueError:
            pass  # what the state holds was never JSON: then what AWS holds is what counts
    return json.dumps(document)
