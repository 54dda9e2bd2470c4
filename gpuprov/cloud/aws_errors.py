"""Errors of boto3 -> diagnostics: refusals of AWS by their code, everything else by its kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from gpuprov.cloud.aws_codes import diagnose
from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_WAYS: Final = (
    "give them in one of these ways: a profile (targets.cloud.profile, or AWS_PROFILE), SSO (`aws configure sso`, then"
    " `aws sso login`), the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where they are"
    " temporary), or the role of the instance that gpuprov runs on"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """Errors that boto3 raises on its own, without an answer of AWS, and what they mean."""

    errors: tuple[type[Exception], ...]
    code: str
    summary: str
    hint: str
    """May name {sso}: the command that renews the login."""
    address: str = ""
    """Where the caller names none."""


_KINDS: Final = (
    _Kind(
        (
            boto.SSOError,
            boto.TokenRetrievalError,
            boto.NoAuthTokenError,
        ),
        "GP-CLOUD-004",
        "the SSO session has expired, or there is none",
        "run `{sso}`",
    ),
    _Kind(
        # `aws login`: botocore 1.41 and newer.
        tuple(kind for kind in (getattr(boto, "LoginError", None),) if kind is not None),
        "GP-CLOUD-004",
        "the AWS login has expired, or there is none",
        "run `aws login`",
    ),
    _Kind(
        (
            boto.ProfileNotFound,
            boto.ConfigNotFound,
            boto.ConfigParseError,
            boto.InvalidConfigError,
            boto.UnknownCredentialError,
        ),
        "GP-CLOUD-003",
        "the AWS configuration gives no credentials",
        "see `aws configure list-profiles`; " + _WAYS,
        "targets.cloud.profile",
    ),
    _Kind(
        (boto.NoCredentialsError, boto.PartialCredentialsError, boto.CredentialRetrievalError),
        "GP-CLOUD-003",
        "there are no AWS credentials",
        _WAYS,
    ),
    _Kind(
        (boto.ReadTimeoutError,),
        "GP-CLOUD-024",
        "AWS did not answer in time",
        "check the way to AWS, then run the same command again",
    ),
    _Kind(
        (boto.NoRegionError, boto.InvalidRegionError, boto.UnknownRegionError),
        "GP-CLOUD-006",
        "the region is not known",
        "name another region",
        "targets.cloud.region",
    ),
    _Kind(
        (
            boto.ConnectionError,
            boto.HTTPClientError,
            boto.MetadataRetrievalError,
            ResponseParserError,  # what answered is not AWS: a proxy's page, a wrong AWS_ENDPOINT_URL
        ),
        "GP-CLOUD-025",
        "AWS cannot be reached",
        "check name server, proxy (HTTPS_PROXY) and firewall; AWS_ENDPOINT_URL, where it is set, must answer",
    ),
)
"""The first row that fits counts."""

_DETAIL_LIMIT: Final = 600


def translate(error: Exception, *, address: str = "", profile: str | None = None) -> GpuprovError:
    """Turn an error of boto3 into ours.

    Args:
        error: a ClientError or BotoCoreError; others become GP-CLOUD-010.
        address: what the call was about.
        profile: the AWS profile in use, for the command that renews its login.
    """
    if isinstance(error, boto.ClientError):
        answer = error.response.get("Error", {})
        code = str(answer.get("Code") or error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
        return GpuprovError(
            diagnose(code, str(answer.get("Message", "")), address=address, operation=error.operation_name)
        )
    return GpuprovError(_other(error, address, profile))


@contextmanager
def translated(address: str = "", *, profile: str | None = None) -> Iterator[None]:
    """Inside, an error of boto3 leaves as ours; see `translate`."""
    try:
        yield
    except (boto.ClientError, boto.BotoCoreError, ResponseParserError) as error:
        raise translate(error, address=address, profile=profile) from error


def code_of(error: Exception) -> str:
    """AWS's code of a refusal; empty for every other error."""
    if isinstance(error, boto.ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def _other(error: Exception, address: str, profile: str | None) -> Diagnostic:
    detail = str(error).strip()[:_DETAIL_LIMIT]
    for kind in _KINDS:
        if isinstance(error, kind.errors):
            sso = f"aws sso login --profile {profile}" if profile else "aws sso login"
            return Diagnostic(
                code=kind.code,
                address=address or kind.address,
                summary=kind.summary,
                detail=detail,
                hint=kind.hint.format(sso=sso),
            )
    return Diagnostic(
        code="GP-CLOUD-010", address=address, summary=f"a call to AWS failed: {type(error).__name__}", detail=detail
    )
