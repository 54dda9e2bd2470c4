"""The functions of the provider that a program may call; every other one is refused."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gpuprov.lab.aws.plugin.cloud import Call, tag_map
from gpuprov.lab.aws.plugin.errors import ProviderError
from gpuprov.lab.aws.plugin.schema import Refused

Values = dict[str, Any]
_ZONES = frozenset({"allAvailabilityZones", "excludeNames", "excludeZoneIds", "filters", "state"})
_AMI = frozenset({"executableUsers", "filters", "includeDeprecated", "mostRecent", "nameRegex", "owners"})


def invoke(call: Call, token: str, arguments: Mapping[str, Any]) -> tuple[Values, tuple[Refused, ...]]:
    """Answer a function call.

    Returns:
        The result, or why the arguments are refused.

    Raises:
        ProviderError: the function is not one of those here, or finds nothing.
        AwsError: AWS refuses.
    """
    if token not in _FUNCTIONS:
        raise ProviderError(f"the lab's AWS plugin does not implement the function {token}")
    known, answer = _FUNCTIONS[token]
    refused = tuple(
        Refused(property=name, reason="is no argument that the lab's AWS plugin implements")
        for name in sorted(arguments.keys() - known)
    )
    return ({}, refused) if refused else (answer(call, arguments), ())


def _availability_zones(call: Call, arguments: Mapping[str, Any]) -> Values:
    """DescribeAvailabilityZones."""
    filters = _filters(arguments)
    if arguments.get("state"):
        filters.append({"Name": "state", "Values": [arguments["state"]]})
    answer = call.ec2(
        "describe_availability_zones",
        Filters=filters or None,
        AllAvailabilityZones=arguments.get("allAvailabilityZones"),
    )
    zones = sorted(
        (
            zone
            for zone in answer["AvailabilityZones"]
            if zone["ZoneName"] not in arguments.get("excludeNames", [])
            and zone["ZoneId"] not in arguments.get("excludeZoneIds", [])
        ),
        key=lambda zone: str(zone["ZoneName"]),
    )
    return {
        **arguments,
        "id": call.region,
        "region": call.region,
        "names": [zone["ZoneName"] for zone in zones],
        "zoneIds": [zone["ZoneId"] for zone in zones],
        "groupNames": sorted({zone.get("GroupName", call.region) for zone in zones}),
    }


def _ami(call: Call, arguments: Mapping[str, Any]) -> Values:
    """DescribeImages; one must be left, or the newest is asked for."""
    answer = call.ec2(
        "describe_images",
        Filters=_filters(arguments) or None,
        Owners=arguments.get("owners"),
        ExecutableUsers=arguments.get("executableUsers"),
    )
    pattern = arguments.get("nameRegex")
    images = [image for image in answer["Images"] if not pattern or re.search(pattern, image.get("Name", ""))]
    if not images:
        raise ProviderError("Your query returned no results. Please change your search criteria and try again.")
    if len(images) > 1 and not arguments.get("mostRecent"):
        raise ProviderError(
            "Your query returned more than one result. Please try a more specific search criteria, "
            "or set `most_recent` attribute to true."
        )
    newest = max(images, key=lambda image: str(image["CreationDate"]))
    return {
        **arguments,
        "id": newest["ImageId"],
        "imageId": newest["ImageId"],
        "name": newest.get("Name", ""),
        "architecture": newest.get("Architecture"),
        "creationDate": newest["CreationDate"],
        "ownerId": newest.get("OwnerId"),
        "rootDeviceName": newest.get("RootDeviceName"),
        "state": newest.get("State"),
        "region": call.region,
        "tags": tag_map(newest.get("Tags")),
    }


def _filters(arguments: Mapping[str, Any]) -> list[Values]:
    """Return filters as EC2 takes them."""
    return [{"Name": each["name"], "Values": each["values"]} for each in arguments.get("filters", [])]


_FUNCTIONS: Mapping[str, tuple[frozenset[str], Callable[[Call, Mapping[str, Any]], Values]]] = {
    "aws:index/getAvailabilityZones:getAvailabilityZones": (_ZONES, _availability_zones),
    "aws:ec2/getAmi:getAmi": (_AMI, _ami),
}
