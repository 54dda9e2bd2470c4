"""Errors in the words of the real provider, so that what reads them in the lab reads them in an account."""

from collections.abc import Mapping
from typing import Any

SDK_NAMES = {"ec2": "EC2", "efs": "EFS", "iam": "IAM", "s3": "S3", "sts": "STS"}
"""How the AWS SDK for Go v2, which the real provider uses, names the services in its errors."""


class AwsError(Exception):
    """A call that AWS refuses."""

    def __init__(
        self, *, operation: str, code: str, message: str, service: str = "ec2", status: int = 400, request: str = ""
    ) -> None:
        """Keep AWS's own code and message.

        Args:
            operation: the API operation, for example "RunInstances".
            code: AWS's error code.
            message: AWS's own message.
            service: boto3's name of the service.
            status: the HTTP status.
            request: AWS's request id.
        """
        super().__init__(message)
        self.operation = operation
        self.code = code
        self.message = message
        self.service = service
        self.status = status
        self.request = request

    def __str__(self) -> str:
        """Say it as the AWS SDK for Go v2 does."""
        service = SDK_NAMES.get(self.service, self.service)
        return (
            f"operation error {service}: {self.operation}, https response error StatusCode: {self.status}, "
            f"RequestID: {self.request or 'lab'}, api error {self.code}: {self.message}"
        )


class ProviderError(Exception):
    """Something that the provider itself gives up on: a state that is not reached, an id that it cannot read."""


def from_client_error(error: Any, service: str) -> AwsError:
    """Take the parts out of boto3's ClientError."""
    response: Mapping[str, Any] = error.response
    told = response.get("Error", {})
    about = response.get("ResponseMetadata", {})
    return AwsError(
        operation=error.operation_name,
        code=str(told.get("Code", "Unknown")),
        message=str(told.get("Message", "")),
        service=service,
        status=int(about.get("HTTPStatusCode", 400)),
        request=str(about.get("RequestId", "")),
    )


def as_provider_says(doing: str, error: Exception) -> str:
    """Return an error's text in the form in which the real provider hands it to the engine."""
    return f"1 error occurred:\n\t* {doing}: {error}\n\n"
