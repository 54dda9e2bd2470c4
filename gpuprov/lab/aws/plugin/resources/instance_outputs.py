"""An EC2 instance as the real provider shows it."""

import base64
from collections.abc import Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, absent, tag_map
from gpuprov.lab.aws.plugin.errors import ProviderError
from gpuprov.lab.aws.plugin.resources.ebs import volume_of
from gpuprov.lab.aws.plugin.resources.ec2_template import launched_from
from gpuprov.lab.aws.plugin.resources.handler import Known, Values, tag_outputs

NO_INSTANCE = ("InvalidInstanceID.NotFound",)


def describe(call: Call, identity: str) -> Mapping[str, Any] | None:
    """Return an instance as AWS describes it; None when it is terminated or unknown."""
    found = absent(lambda: call.ec2("describe_instances", InstanceIds=[identity])["Reservations"], NO_INSTANCE)
    if not found:
        return None
    instance: Mapping[str, Any] = found[0]["Instances"][0]
    return None if instance["State"]["Name"] == "terminated" else instance


def root_volume(call: Call, identity: str) -> str:
    """Return the id of an instance's root volume.

    Raises:
        ProviderError: the instance has none, or is gone.
    """
    instance = describe(call, identity) or {}
    for each in instance.get("BlockDeviceMappings", []):
        if each["DeviceName"] == instance["RootDeviceName"]:
            return str(each["Ebs"]["VolumeId"])
    raise ProviderError(f"reading EC2 Instance ({identity}): it has no root volume")


def primary_interface(call: Call, identity: str) -> str:
    """Return the id of an instance's first interface.

    Raises:
        ProviderError: the instance has none, or is gone.
    """
    instance = describe(call, identity)
    if not instance or not instance.get("NetworkInterfaces"):
        raise ProviderError(f"reading EC2 Instance ({identity}): it has no network interface")
    return str(instance["NetworkInterfaces"][0]["NetworkInterfaceId"])


def outputs(call: Call, identity: str, known: Known) -> Values | None:
    """Return an instance's outputs; None when it is gone."""
    instance = describe(call, identity)
    if instance is None:
        return None
    profile = (instance.get("IamInstanceProfile") or {}).get("Arn", "")
    found: Values = {
        "ami": instance["ImageId"],
        "arn": call.arn("ec2", f"instance/{identity}"),
        "instanceType": instance["InstanceType"],
        "instanceState": instance["State"]["Name"],
        "availabilityZone": instance["Placement"]["AvailabilityZone"],
        "placementGroup": instance["Placement"].get("GroupName", ""),
        "tenancy": instance["Placement"].get("Tenancy"),
        "subnetId": instance.get("SubnetId"),
        "privateIp": instance.get("PrivateIpAddress"),
        "privateDns": instance.get("PrivateDnsName"),
        "publicIp": instance.get("PublicIpAddress", ""),
        "publicDns": instance.get("PublicDnsName", ""),
        "vpcSecurityGroupIds": _groups(instance),
        "keyName": instance.get("KeyName", ""),
        "iamInstanceProfile": profile.rpartition("/")[2],
        "ebsOptimized": bool(instance.get("EbsOptimized")),
        "sourceDestCheck": instance.get("SourceDestCheck", True),
        "instanceLifecycle": instance.get("InstanceLifecycle", ""),
        **_bought(instance, known),
        **launched_from(call, instance, known),
        "userData": _user_data(call, identity),
        "metadataOptions": _metadata(instance.get("MetadataOptions") or {}),
        "region": call.region,
        "disableApiTermination": _attribute(call, identity, "disableApiTermination"),
        **_interface(instance, known),
        **_disks(call, instance, known),
        **tag_outputs(tag_map(instance.get("Tags"))),
    }
    return found


def _bought(instance: Mapping[str, Any], known: Known) -> Values:
    """Return how the instance was bought; moto keeps no spot request, so that its options are those of the state."""
    found: Values = {}
    if lifecycle := instance.get("InstanceLifecycle"):
        options = (known.get("instanceMarketOptions") or {}).get("spotOptions")
        spot = {"spotOptions": options} if options and lifecycle == "spot" else {}
        found["instanceMarketOptions"] = {"marketType": lifecycle, **spot}
    if reservation := instance.get("CapacityReservationId"):
        target = {"capacityReservationId": reservation}
        found["capacityReservationSpecification"] = {"capacityReservationTarget": target}
    return found


def _groups(instance: Mapping[str, Any]) -> list[str]:
    """Return the groups of the first interface, which are the instance's."""
    interfaces = instance.get("NetworkInterfaces") or [instance]
    return sorted(each["GroupId"] for each in interfaces[0].get("Groups") or instance.get("SecurityGroups", []))


def _attribute(call: Call, identity: str, name: str) -> Any:
    """Read one attribute that DescribeInstances does not show."""
    answer = call.ec2("describe_instance_attribute", InstanceId=identity, Attribute=name)
    return answer[name[0].upper() + name[1:]].get("Value")


def _user_data(call: Call, identity: str) -> str:
    """Read the user data as text: since version 6 the provider keeps it in clear, not as a hash.

    Source: website/docs/guides/version-6-upgrade.html.markdown of hashicorp/terraform-provider-aws at
    006da72e35e9e784737eed3cf687c8a0a955d59a; pulumi-aws 7 is built on version 6 (read 2026-11-30).
    """
    value = _attribute(call, identity, "userData")
    return base64.b64decode(value).decode() if value else ""


def _metadata(options: Mapping[str, Any]) -> Values:
    """Return the metadata options."""
    return {
        "httpEndpoint": options.get("HttpEndpoint"),
        "httpProtocolIpv6": options.get("HttpProtocolIpv6"),
        "httpPutResponseHopLimit": options.get("HttpPutResponseHopLimit"),
        "httpTokens": options.get("HttpTokens"),
        "instanceMetadataTags": options.get("InstanceMetadataTags"),
    }


def _interface(instance: Mapping[str, Any], known: Known) -> Values:
    """Return what the first interface says; whether a public address was asked for shows by its being there."""
    interfaces = instance.get("NetworkInterfaces", [])
    if not interfaces:
        return {}
    first = interfaces[0]
    public = bool(first.get("Association", {}).get("PublicIp"))
    # A stopped instance has lost its public address, and that is no change of what was asked for.
    if instance["State"]["Name"] != "running" and known.get("associatePublicIpAddress") is not None:
        public = bool(known["associatePublicIpAddress"])
    return {"primaryNetworkInterfaceId": first["NetworkInterfaceId"], "associatePublicIpAddress": public}


def _disks(call: Call, instance: Mapping[str, Any], known: Known) -> Values:
    """Return the root volume and the others."""
    root: Values | None = None
    others: list[Values] = []
    tags: dict[str, str] = {}
    for each in instance.get("BlockDeviceMappings", []):
        volume = volume_of(call, each["Ebs"]["VolumeId"])
        if volume is None:
            continue
        shown = _disk(each, volume)
        if each["DeviceName"] == instance["RootDeviceName"]:
            root, tags = shown, tag_map(volume.get("Tags"))
        else:
            others.append(shown)
    found: Values = {"rootBlockDevice": root, "ebsBlockDevices": others}
    if known.get("volumeTags") is not None:
        found["volumeTags"] = tags
    return found


def _disk(mapping: Mapping[str, Any], volume: Mapping[str, Any]) -> Values:
    """Return one volume of an instance."""
    tags = tag_map(volume.get("Tags"))
    return {
        "deviceName": mapping["DeviceName"],
        "deleteOnTermination": mapping["Ebs"].get("DeleteOnTermination"),
        "volumeId": volume["VolumeId"],
        "volumeSize": volume["Size"],
        "volumeType": volume["VolumeType"],
        "iops": volume.get("Iops"),
        "throughput": volume.get("Throughput"),
        "encrypted": volume["Encrypted"],
        "kmsKeyId": volume.get("KmsKeyId", ""),
        "tags": tags,
        "tagsAll": tags,
    }
