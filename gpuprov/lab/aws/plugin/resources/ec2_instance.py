"""EC2 instance: what makes, changes and removes it; `instance_outputs` reads it."""
# ruff: noqa: ARG002 (each handler takes what the protocol in handler.py gives it)

from collections.abc import Callable
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, gone
from gpuprov.lab.aws.plugin.errors import ProviderError
from gpuprov.lab.aws.plugin.resources.ebs import modify_volume
from gpuprov.lab.aws.plugin.resources.ec2_template import template_argument
from gpuprov.lab.aws.plugin.resources.handler import Known, Values, changed, tag_specification, update_ec2_tags
from gpuprov.lab.aws.plugin.resources.instance_outputs import (
    NO_INSTANCE,
    describe,
    outputs,
    primary_interface,
    root_volume,
)

_METADATA = {
    "httpEndpoint": "HttpEndpoint",
    "httpTokens": "HttpTokens",
    "httpPutResponseHopLimit": "HttpPutResponseHopLimit",
    "instanceMetadataTags": "InstanceMetadataTags",
}
_SPOT = {
    "maxPrice": "MaxPrice",
    "spotInstanceType": "SpotInstanceType",
    "instanceInterruptionBehavior": "InstanceInterruptionBehavior",
}
_ROOT = {
    "volumeSize": "VolumeSize",
    "volumeType": "VolumeType",
    "iops": "Iops",
    "throughput": "Throughput",
    "encrypted": "Encrypted",
}


class Instance:
    """aws:ec2/instance:Instance."""

    noun = "EC2 Instance"

    def create(self, call: Call, inputs: Known) -> None:
        """RunInstances with all tags, then wait until EC2 says that it runs."""
        made = call.ec2("run_instances", **self._launch(call, inputs))
        identity = str(made["Instances"][0]["InstanceId"])
        call.made = identity
        self._wait(call, identity, {"running", "stopped"}, {"pending"}, "create")
        if root_tags := inputs.get("rootBlockDevice", {}).get("tags"):
            update_ec2_tags(call, root_volume(call, identity), {}, root_tags)
        if inputs.get("sourceDestCheck") is False:
            call.ec2("modify_instance_attribute", InstanceId=identity, SourceDestCheck={"Value": False})

    def read(self, call: Call, identity: str, known: Known) -> Values | None:
        """DescribeInstances, its volumes and its attributes; a terminated instance is gone."""
        return outputs(call, identity, known)

    def update(self, call: Call, identity: str, olds: Known, news: Known) -> None:
        """Change what can be changed in place; type and user data need a stop and a start."""
        self._attributes(call, identity, olds, news)
        if changed("vpcSecurityGroupIds", olds, news) and news.get("vpcSecurityGroupIds"):
            call.ec2(
                "modify_network_interface_attribute",
                NetworkInterfaceId=primary_interface(call, identity),
                Groups=news["vpcSecurityGroupIds"],
            )
        if changed("iamInstanceProfile", olds, news) and news.get("iamInstanceProfile"):
            self._profile(call, identity, news["iamInstanceProfile"])
        self._root(call, identity, olds.get("rootBlockDevice", {}), news.get("rootBlockDevice", {}))
        if changed("volumeTags", olds, news):
            update_ec2_tags(call, root_volume(call, identity), olds.get("volumeTags"), news.get("volumeTags"))
        stopped = {
            name: {"Value": news[name]}
            for name in ("instanceType", "userData")
            if changed(name, olds, news) and news.get(name) is not None
        }
        if stopped:
            self._change_stopped(call, identity, stopped)
        reservation = _reservation(news.get("capacityReservationSpecification"))
        if changed("capacityReservationSpecification", olds, news) and reservation:
            self._stopped(
                call,
                identity,
                lambda: call.ec2(
                    "modify_instance_capacity_reservation_attributes",
                    InstanceId=identity,
                    CapacityReservationSpecification=reservation,
                ),
            )
        update_ec2_tags(call, identity, olds.get("tags"), news.get("tags"))

    def delete(self, call: Call, identity: str, known: Known) -> None:
        """TerminateInstances, and wait until it is terminated."""
        gone(lambda: call.ec2("terminate_instances", InstanceIds=[identity]), NO_INSTANCE)
        call.wait(
            lambda: True if describe(call, identity) is None else None,
            doing=f"waiting for EC2 Instance ({identity}) delete",
        )

    @staticmethod
    def _launch(call: Call, inputs: Known) -> Values:
        """Return the arguments of RunInstances."""
        metadata = {_METADATA[name]: value for name, value in inputs.get("metadataOptions", {}).items()}
        profile = inputs.get("iamInstanceProfile")
        places = {"AvailabilityZone": inputs.get("availabilityZone"), "GroupName": inputs.get("placementGroup")}
        placement = {name: value for name, value in places.items() if value}
        specifications = [
            *(tag_specification("instance", inputs.get("tags")) or []),
            *(tag_specification("volume", inputs.get("volumeTags")) or []),
        ]
        arguments: Values = {
            "ImageId": inputs["ami"],
            "InstanceType": inputs["instanceType"],
            "MinCount": 1,
            "MaxCount": 1,
            "UserData": inputs.get("userData"),
            "IamInstanceProfile": {"Name": profile} if profile else None,
            "Placement": placement or None,
            "EbsOptimized": inputs.get("ebsOptimized"),
            "DisableApiTermination": inputs.get("disableApiTermination"),
            "MetadataOptions": metadata or None,
            "TagSpecifications": specifications or None,
            "InstanceMarketOptions": _market(inputs.get("instanceMarketOptions")),
            "CapacityReservationSpecification": _reservation(inputs.get("capacityReservationSpecification")),
            "LaunchTemplate": template_argument(inputs.get("launchTemplate")),
        }
        if inputs.get("rootBlockDevice"):
            arguments["BlockDeviceMappings"] = [_root_mapping(call, inputs["ami"], inputs["rootBlockDevice"])]
        return arguments | _interfaces(inputs)

    @staticmethod
    def _wait(call: Call, identity: str, wanted: set[str], passing: set[str], doing: str) -> None:
        """Wait for one of these states.

        Raises:
            ProviderError: the instance takes a state from which it will not come there, or the time is over.
        """

        def look() -> bool | None:
            found = call.ec2("describe_instances", InstanceIds=[identity])["Reservations"][0]["Instances"][0]
            state = found["State"]["Name"]
            if state in wanted:
                return True
            if state not in passing:
                why = found.get("StateReason") or {}
                last = f". last error: {why['Code']}: {why['Message']}" if why.get("Code") else ""
                raise ProviderError(
                    f"waiting for EC2 Instance ({identity}) {doing}: unexpected state '{state}', "
                    f"wanted target '{', '.join(sorted(wanted))}'{last}"
                )
            return None

        call.wait(look, doing=f"waiting for EC2 Instance ({identity}) {doing}")

    @staticmethod
    def _attributes(call: Call, identity: str, olds: Known, news: Known) -> None:
        """Change attributes that need no stop."""
        for name, argument in (
            ("sourceDestCheck", "SourceDestCheck"),
            ("disableApiTermination", "DisableApiTermination"),
        ):
            if changed(name, olds, news) and news.get(name) is not None:
                call.ec2("modify_instance_attribute", InstanceId=identity, **{argument: {"Value": news[name]}})
        if changed("metadataOptions", olds, news) and news.get("metadataOptions"):
            options = {_METADATA[name]: value for name, value in news["metadataOptions"].items()}
            call.ec2("modify_instance_metadata_options", InstanceId=identity, **options)

    @staticmethod
    def _profile(call: Call, identity: str, name: str) -> None:
        """Give the instance another profile."""
        filters = [{"Name": "instance-id", "Values": [identity]}]
        found = call.ec2("describe_iam_instance_profile_associations", Filters=filters)
        associations = found["IamInstanceProfileAssociations"]
        profile = {"Name": name}
        if associations:
            call.ec2(
                "replace_iam_instance_profile_association",
                AssociationId=associations[0]["AssociationId"],
                IamInstanceProfile=profile,
            )
        else:
            call.ec2("associate_iam_instance_profile", InstanceId=identity, IamInstanceProfile=profile)

    @staticmethod
    def _root(call: Call, identity: str, olds: Known, news: Known) -> None:
        """Change the root volume."""
        given = {name: news.get(name) if changed(name, olds, news) else None for name in _ROOT}
        volume = root_volume(call, identity)
        modify_volume(
            call,
            volume,
            size=given["volumeSize"],
            kind=given["volumeType"],
            iops=given["iops"],
            throughput=given["throughput"],
        )
        if changed("tags", olds, news):
            update_ec2_tags(call, volume, olds.get("tags"), news.get("tags"))

    def _change_stopped(self, call: Call, identity: str, attributes: dict[str, Any]) -> None:
        """Change what AWS changes on a stopped instance only."""

        def change() -> None:
            for name, value in attributes.items():
                argument = name[0].upper() + name[1:]
                call.ec2("modify_instance_attribute", InstanceId=identity, **{argument: value})

        self._stopped(call, identity, change)

    def _stopped(self, call: Call, identity: str, change: Callable[[], Any]) -> None:
        """Stop, change, start."""
        call.ec2("stop_instances", InstanceIds=[identity])
        self._wait(call, identity, {"stopped"}, {"running", "pending", "stopping"}, "stop")
        change()
        call.ec2("start_instances", InstanceIds=[identity])
        self._wait(call, identity, {"running"}, {"stopped", "pending"}, "start")


def _interfaces(inputs: Known) -> Values:
    """Return where the instance is connected; a public address can be asked for on an interface only.

    Without a subnet the provider makes no interface of its own, and asks for no address: a template may.
    """
    public = inputs.get("associatePublicIpAddress")
    if public is None or inputs.get("subnetId") is None:
        return {
            "SubnetId": inputs.get("subnetId"),
            "PrivateIpAddress": inputs.get("privateIp"),
            "SecurityGroupIds": inputs.get("vpcSecurityGroupIds"),
        }
    interface = {
        "DeviceIndex": 0,
        "AssociatePublicIpAddress": public,
        "SubnetId": inputs.get("subnetId"),
        "PrivateIpAddress": inputs.get("privateIp"),
        "Groups": inputs.get("vpcSecurityGroupIds"),
    }
    return {"NetworkInterfaces": [{name: value for name, value in interface.items() if value is not None}]}


def _market(options: Known | None) -> Values | None:
    """Return how the instance is bought, as RunInstances takes it."""
    if not options:
        return None
    spot = {_SPOT[name]: value for name, value in options.get("spotOptions", {}).items()}
    return {"MarketType": options["marketType"]} | ({"SpotOptions": spot} if spot else {})


def _reservation(specification: Known | None) -> Values | None:
    """Return which reservation the instance targets, as RunInstances takes it."""
    target = (specification or {}).get("capacityReservationTarget", {}).get("capacityReservationId")
    return {"CapacityReservationTarget": {"CapacityReservationId": target}} if target else None


def _root_mapping(call: Call, image: str, root: Known) -> Values:
    """Return the root volume as RunInstances takes it; its device name is the image's."""
    found = call.ec2("describe_images", ImageIds=[image])["Images"]
    if not found:
        raise ProviderError(f"collecting instance settings: no root device name found for EC2 AMI ({image})")
    disk = {_ROOT[name]: value for name, value in root.items() if name in _ROOT}
    return {
        "DeviceName": found[0]["RootDeviceName"],
        "Ebs": disk | {"DeleteOnTermination": root.get("deleteOnTermination", True)},
    }
