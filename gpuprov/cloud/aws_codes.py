"""AWS's error codes -> diagnostics: the one table that knows what each code means for the user; it needs no library.

Codes as AWS documents them in "Error codes for the Amazon EC2 API" (AWSEC2/latest/APIReference/errors-overview.html),
the S3 API Reference's "Error responses" and the common errors of IAM and STS, as of 2026-11; none was tried on AWS.
"""

import re
from dataclasses import dataclass
from typing import Final

from gpuprov.model.diagnostic import Diagnostic

_ACTION: Final = re.compile(r"not authorized to perform:? (?P<action>[a-z0-9-]+:\w+)")
_EXPLICIT: Final = re.compile(r"explicit deny in (?:a|an) (?P<where>[\w -]+?) ?policy|explicit deny")
_TYPE: Final = re.compile(r"instance type \(?['\"]?(?P<type>[a-z0-9-]+\.[a-z0-9-]+)")
_BAD_TYPE: Final = re.compile(r"Invalid value '(?P<type>[^']*)' for InstanceType")
_NEW_PROFILE: Final = re.compile(
    r"Invalid IAM Instance Profile (?:name|ARN)|has no associated IAM Roles", re.IGNORECASE
)
"""EC2 does not know a fresh profile, or not its role, for a while. The official plugin waits two minutes for it, and
more were seen (terraform-provider-aws, ec2_instance.go, and its issue 27516; read 2026-11-30)."""


@dataclass(frozen=True, slots=True)
class _Row:
    """AWS's codes that mean the same to the user."""

    codes: frozenset[str]
    code: str
    summary: str
    """May name {code} and {what}: the denied action, the instance type, or nothing."""
    hint: str


def _row(codes: str, code: str, summary: str, hint: str) -> _Row:
    return _Row(frozenset(codes.split()), code, summary, hint)


_AGAIN: Final = (
    "get new ones (`aws sso login`, a new session token, or a new access key) and run the same command again"
)

_ROWS: Final = (
    _row(
        "ExpiredToken ExpiredTokenException RequestExpired TokenRefreshRequired ExpiredCredentials",
        "GP-CLOUD-004",
        "the AWS credentials have expired ({code})",
        _AGAIN + "; if they are fresh, check this machine's clock",
    ),
    _row(
        "SignatureDoesNotMatch IncompleteSignature InvalidSignatureException RequestTimeTooSkewed",
        "GP-CLOUD-004",
        "AWS refuses the signature ({code}): the secret key is wrong, or this machine's clock is",
        "check the secret access key, and the clock (`timedatectl`)",
    ),
    _row(
        "InvalidClientTokenId UnrecognizedClientException AuthFailure InvalidAccessKeyId InvalidToken "
        "MissingAuthenticationToken MissingAuthenticationTokenException NotSignedUp",
        "GP-CLOUD-004",
        "AWS does not accept the credentials ({code})",
        _AGAIN,
    ),
    _row(
        "UnauthorizedOperation AccessDenied AccessDeniedException AuthorizationError NotAuthorized "
        "UnauthorizedAccess AllAccessDisabled",
        "GP-CLOUD-007",
        "AWS denies {what}",
        "ask whoever runs the account to allow it, then run the same command again",
    ),
    _row(
        "OptInRequired RegionDisabledException InvalidRegion IllegalLocationConstraintException",
        "GP-CLOUD-006",
        "the region is not enabled for this account ({code})",
        "enable it (AWS console, Account, Regions), or name another in targets.cloud.region",
    ),
    _row(
        "InsufficientInstanceCapacity InsufficientHostCapacity InsufficientCapacity "
        "InsufficientReservedInstanceCapacity InsufficientReservedInstancesCapacity InsufficientCapacityOnHost "
        "InsufficientVolumeCapacity",
        "GP-CLOUD-008",
        "AWS has no capacity for {what} now",
        "run the same command again later (what was made stays), or name another zone in targets.cloud.network.zones"
        " or another instance type",
    ),
    _row(
        "SpotMaxPriceTooLow",
        "GP-CLOUD-008",
        "the spot price of {what} is above the spec's max_price ({code})",
        "raise `market.max_price`, leave it out (then AWS takes at most the price on demand), or try again later",
    ),
    _row(
        "ReservationCapacityExceeded",
        "GP-CLOUD-008",
        "the reserved capacity has no room for {what} ({code})",
        "others took it since it was looked at, or AWS still cleans up after an instance that ended (minutes); run the"
        " same command again, or enlarge the reservation; gpuprov never buys on demand instead",
    ),
    _row(
        "InvalidCapacityReservationId.NotFound InvalidCapacityReservationId.Malformed "
        "InvalidCapacityReservationState.PendingActivation InvalidCapacityReservationState.Unavailable",
        "GP-CLOUD-050",
        "the reserved capacity cannot be used ({code})",
        "see its state: `aws ec2 describe-capacity-reservations`; a capacity block gives nothing before it begins",
    ),
    _row(
        "MaxSpotInstanceCountExceeded MaxSpotFleetRequestCountExceeded RequestResourceCountExceeded",
        "GP-CLOUD-009",
        "the account's quota of spot instances for this family is used up ({code})",
        "ask AWS for more (Service Quotas, Amazon EC2: `All P Spot Instance Requests` is L-7212CCBC, `G and VT` is"
        " L-3819A6DF), then run the same command again",
    ),
    _row(
        "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
        "GP-CLOUD-007",
        "the account has no role for spot instances, and the caller may not make it ({code})",
        "have it made once: `aws iam create-service-linked-role --aws-service-name spot.amazonaws.com`",
    ),
    _row(
        "PendingVerification Blocked AccountDisabled",
        "GP-CLOUD-007",
        "AWS holds the account back ({code})",
        "whoever runs the account must settle that with AWS Support; what was made stays",
    ),
    _row(
        "InsufficientFreeAddressesInSubnet",
        "GP-CLOUD-009",
        "the subnet has no address left ({code})",
        "stopped instances hold theirs too: remove some, or use a larger network (targets.cloud.network)",
    ),
    _row(
        "VcpuLimitExceeded InstanceLimitExceeded",
        "GP-CLOUD-009",
        "the account's quota of vCPUs for this family of instances is used up ({code})",
        "ask AWS for more (Service Quotas, Amazon EC2: `Running On-Demand P instances` is L-417A185B, `G and VT` is"
        " L-DB2E81BA, `Standard` is L-1216C47A), then run the same command again",
    ),
    _row(
        "VpcLimitExceeded AddressLimitExceeded VolumeLimitExceeded MaxIOPSLimitExceeded "
        "SecurityGroupLimitExceeded RulesPerSecurityGroupLimitExceeded InternetGatewayLimitExceeded "
        "RouteTableLimitExceeded RouteLimitExceeded SubnetLimitExceeded SnapshotLimitExceeded "
        "PendingSnapshotLimitExceeded ConcurrentSnapshotLimitExceeded AttachmentLimitExceeded "
        "NetworkInterfaceLimitExceeded ResourceLimitExceeded ResourceCountLimitExceeded TooManyBuckets "
        "NatGatewayLimitExceeded PlacementGroupLimitExceeded VpcEndpointLimitExceeded KeyPairLimitExceeded "
        "SecurityGroupsPerInstanceLimitExceeded SecurityGroupsPerInterfaceLimitExceeded TagLimitExceeded "
        "PrivateIpAddressLimitExceeded HostLimitExceeded ResourceCountExceeded EntityLimitExceeded "
        "FileSystemLimitExceeded MountTargetLimitExceeded "
        "LimitExceeded LimitExceededException ServiceQuotaExceededException AMIQuotaExceeded "
        "MaxScheduledInstanceCapacityExceeded",
        "GP-CLOUD-009",
        "a quota of the account is used up ({code})",
        "remove what is not needed, or ask AWS for more (Service Quotas), then run the same command again",
    ),
    _row(
        "InvalidInstanceType Unsupported UnsupportedOperation.InstanceType",
        "GP-CLOUD-022",
        "the instance type {what} is unknown, or not offered in this zone",
        "see what is offered: `aws ec2 describe-instance-type-offerings --location-type availability-zone`",
    ),
    _row(
        "InvalidAMIID.NotFound InvalidAMIID.Unavailable InvalidAMIID.Malformed InvalidAMIID.Deprecated "
        "InvalidAMIAttributeItemValue ImageNotFound",
        "GP-CLOUD-018",
        "the machine image is not there ({code})",
        "`gpuprov lock --upgrade` looks up the newest base image; `gpuprov image build` bakes a new one",
    ),
    _row(
        "InvalidVpcID.NotFound InvalidSubnetID.NotFound InvalidGroup.NotFound InvalidGroupId.Malformed "
        "InvalidInstanceID.NotFound InvalidInstanceID.Malformed InvalidVolume.NotFound InvalidRouteTableID.NotFound "
        "InvalidInternetGatewayID.NotFound InvalidNetworkInterfaceID.NotFound InvalidAllocationID.NotFound "
        "InvalidSnapshot.NotFound InvalidVpcEndpointId.NotFound NatGatewayNotFound NoSuchBucket NoSuchEntity "
        "FileSystemNotFound MountTargetNotFound",
        "GP-CLOUD-010",
        "something that the stack relies on is gone from the account ({code})",
        "somebody deleted it, or EC2 does not show it yet: `gpuprov up --refresh` looks at every resource first",
    ),
    _row(
        "IncorrectInstanceState IncorrectState InvalidInstanceState IncorrectStateException "
        "IncorrectModificationState VolumeInUse ConcurrentTagAccess OperationAborted",
        "GP-CLOUD-010",
        "it is in a state in which AWS does not do that ({code})",
        "it may be on its way into another: run the same command again in a minute",
    ),
    _row(
        "DependencyViolation DeleteConflict",
        "GP-CLOUD-010",
        "something that gpuprov did not make still depends on it ({code})",
        "remove what was added to it by hand (AWS's own sentence names it), then run the same command again",
    ),
    _row(
        "BucketNotEmpty",
        "GP-CLOUD-010",
        "the bucket still holds objects, so it was not deleted ({code})",
        "empty it with S3's own tools, versions too, and run the same command again; in `gpuprov destroy`,"
        " --delete-data NAME empties it first",
    ),
    _row(
        "Throttling ThrottlingException ThrottledException RequestLimitExceeded SlowDown "
        "RequestThrottled RequestThrottledException TooManyRequestsException RequestTimeout "
        "RequestTimeoutException PriorRequestNotComplete BandwidthLimitExceeded",
        "GP-CLOUD-024",
        "AWS answers too many requests of this account at once ({code}), also after several tries",
        "run the same command again later; what was made is kept",
    ),
    _row(
        "InternalError InternalFailure InternalServerError ServiceUnavailable Unavailable ServiceFailure "
        "ServiceException 500 502 503 504",
        "GP-CLOUD-025",
        "AWS has a fault of its own ({code}), also after several tries",
        "see AWS's health page; run the same command again later",
    ),
)

_BY_CODE: Final = {code: row for row in _ROWS for code in row.codes}
_PROFILE: Final = _row(
    "",
    "GP-CLOUD-024",
    "EC2 does not know the instance profile yet, or not its role ({code})",
    "AWS takes minutes to spread a new role: run the same command again; what was made is kept",
)


def diagnose(code: str, message: str, *, address: str = "", operation: str = "") -> Diagnostic:
    """Say what an error of AWS means.

    Args:
        code: AWS's error code, such as `UnauthorizedOperation`; a leading `Client.` or `Server.` is passed over.
        message: AWS's own sentence.
        address: what it was about: a resource, or an address of the spec.
        operation: API call that failed, such as `RunInstances`.

    Returns:
        A diagnostic with GP-CLOUD-010 for codes that no row knows.
    """
    bare = code.removeprefix("Client.").removeprefix("Server.")
    row = _told_apart(message) or _BY_CODE.get(bare)
    if row is None:
        return Diagnostic(
            code="GP-CLOUD-010",
            address=address,
            summary=f"AWS refused {operation or 'the request'} ({code}): {_sentence(message)}",
        )
    return Diagnostic(
        code=row.code,
        address=address,
        summary=row.summary.format(code=bare, what=_what(row, message, operation)),
        detail=message.strip(),
        hint=_hint(row, message),
    )


def _told_apart(message: str) -> _Row | None:
    """InvalidParameterValue says many things: only its text tells a bad instance type and a profile that is too new."""
    if _BAD_TYPE.search(message):
        return _BY_CODE["InvalidInstanceType"]
    return _PROFILE if _NEW_PROFILE.search(message) else None


def known(code: str) -> bool:
    """Whether a row knows an error code."""
    return code.removeprefix("Client.").removeprefix("Server.") in _BY_CODE


def _what(row: _Row, message: str, operation: str) -> str:
    if row.code == "GP-CLOUD-007":
        found = _ACTION.search(message)
        return f"the action {found['action']}" if found else f"the call {operation}" if operation else "an action"
    found = _BAD_TYPE.search(message) or _TYPE.search(message)
    return found["type"] if found else "what was asked for" if row.code == "GP-CLOUD-008" else ""


def _hint(row: _Row, message: str) -> str:
    if row.code != "GP-CLOUD-007":
        return row.hint
    hint = row.hint
    if _EXPLICIT.search(message):
        hint = "a policy forbids it outright (explicit deny), so no further permission helps; " + hint
    if "Encoded authorization failure message:" in message:
        hint += "; `aws sts decode-authorization-message --encoded-message ...` shows which policy said so"
    return hint


def _sentence(message: str) -> str:
    return message.strip().rstrip(".") or "no reason given"
