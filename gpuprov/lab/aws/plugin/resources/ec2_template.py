"""Launch template: the part of it that holds network interfaces."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, gone, tag_map
from gpuprov.lab.aws.plugin.resources.handler import (
    Known,
    Values,
    changed,
    tag_outputs,
    tag_specification,
    update_ec2_tags,
)

_NO_TEMPLATE = ("InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException")
_PLAIN = {
    "deviceIndex": "DeviceIndex",
    "networkCardIndex": "NetworkCardIndex",
    "interfaceType": "InterfaceType",
    "subnetId": "SubnetId",
    "securityGroups": "Groups",
}
_FLAGS = {"associatePublicIpAddress": "AssociatePublicIpAddress", "deleteOnTermination": "DeleteOnTermination"}
"""Texts in the provider, so that one of them can be left out; true or false in EC2."""


class LaunchTemplate:
    """aws:ec2/launchTemplate:LaunchTemplate."""

    noun = "EC2 Launch Template"

    def create(self, call: Call, inputs: Known) -> None:
        """CreateLaunchTemplate."""
        made = call.ec2(
            "create_launch_template",
            LaunchTemplateName=inputs["name"],
            LaunchTemplateData=_data(inputs),
            TagSpecifications=tag_specification("launch-template", inputs.get("tags")),
        )
        call.made = str(made["LaunchTemplate"]["LaunchTemplateId"])

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeLaunchTemplates, and the newest version, which is what the provider shows."""
        row = _template(call, identity)
        if row is None:
            return None
        newest = str(row["LatestVersionNumber"])
        found = call.ec2("describe_launch_template_versions", LaunchTemplateId=identity, Versions=[newest])
        data = found["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        return {
            "arn": call.arn("ec2", f"launch-template/{identity}"),
            "name": row["LaunchTemplateName"],
            "defaultVersion": row["DefaultVersionNumber"],
            "latestVersion": row["LatestVersionNumber"],
            "networkInterfaces": [_shown(each) for each in data.get("NetworkInterfaces", [])],
            "region": call.region,
            **tag_outputs(tag_map(row.get("Tags"))),
        }

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """CreateLaunchTemplateVersion with the new data, which is not the default one by that; and tags."""
        if changed("networkInterfaces", olds, news):
            call.ec2("create_launch_template_version", LaunchTemplateId=identity, LaunchTemplateData=_data(news))
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """DeleteLaunchTemplate; instances that were made from it stay as they are."""
        gone(lambda: call.ec2("delete_launch_template", LaunchTemplateId=identity), _NO_TEMPLATE)


def launched_from(call: Call, instance: Mapping[str, Any], known: Known) -> Values:
    """The template of an instance, as the provider reads it: by the tags that EC2 gives to such an instance."""
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    identity = tags.get("aws:ec2launchtemplate:id")
    row = _template(call, identity) if identity else None
    if row is None:
        return {}
    version = tags["aws:ec2launchtemplate:version"]
    asked = (known.get("launchTemplate") or {}).get("version")
    meant = {"$Latest": row["LatestVersionNumber"], "$Default": row["DefaultVersionNumber"]}
    # `$Latest` stays `$Latest` for as long as the instance's version is the newest one.
    shown = asked if str(meant.get(str(asked))) == version else version
    return {"launchTemplate": {"id": identity, "name": row["LaunchTemplateName"], "version": shown}}


def template_argument(template: Known | None) -> Values | None:
    """Return the template that RunInstances starts from."""
    if not template:
        return None
    names = {"id": "LaunchTemplateId", "name": "LaunchTemplateName", "version": "Version"}
    given = {names[name]: value for name, value in template.items() if value}
    if "LaunchTemplateId" in given:
        given.pop("LaunchTemplateName", None)  # EC2 takes one of the two
    return given


def _template(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return a launch template as AWS describes it."""
    found = absent(
        lambda: call.ec2("describe_launch_templates", LaunchTemplateIds=[identity])["LaunchTemplates"], _NO_TEMPLATE
    )
    return found[0] if found else None


def _data(inputs: Known) -> Values:
    interfaces = [
        {_PLAIN[name]: value for name, value in each.items() if name in _PLAIN}
        | {_FLAGS[name]: value == "true" for name, value in each.items() if name in _FLAGS}
        for each in inputs.get("networkInterfaces", [])
    ]
    # The provider always sends one field: EC2 takes no template without any.
    return {"UserData": ""} | ({"NetworkInterfaces": interfaces} if interfaces else {})


def _shown(interface: Mapping[str, Any]) -> Values:
    plain = {name: interface[key] for name, key in _PLAIN.items() if key in interface}
    return plain | {name: str(interface[key]).lower() for name, key in _FLAGS.items() if key in interface}
