"""AWS's refusals: as exceptions for moto's hooks, and as answers of each service's own form."""

import json
from typing import Any
from xml.sax.saxutils import escape

from moto.ec2.exceptions import EC2ClientError

_XML = frozenset({"ec2", "iam", "s3", "sts"})
"""Services that write their errors as XML; the others write JSON."""
STATUSES = {"InsufficientInstanceCapacity": 500, "UnauthorizedOperation": 403, "AuthFailure": 401}
"""EC2 errors that do not answer 400, as moto's all do ("Error codes for the Amazon EC2 API", 2026-11)."""


def refusal(code: str, message: str) -> Exception:
    """Make what a hook raises to refuse a call of EC2."""
    error: Exception = EC2ClientError(code, message)
    return error


def lab_refusal(message: str) -> Exception:
    """Make the refusal of what AWS can do and the lab cannot: it says that it is the lab's."""
    return refusal("Unsupported", f"gpuprov lab: {message}")


def error_body(service: str, code: str, message: str) -> str:
    """Return the body of an error as the service writes it: EC2's own form, S3's, or the query protocol's."""
    what = f"<Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    if service == "ec2":
        return f"{head}<Response><Errors><Error>{what}</Error></Errors><RequestID>gpuprov-lab</RequestID></Response>"
    if service not in _XML:
        return json.dumps({"__type": code, "ErrorCode": code, "message": message, "Message": message})
    if service == "s3":
        return f"{head}<Error>{what}<RequestId>gpuprov-lab</RequestId></Error>"
    whole = f"<Error><Type>Sender</Type>{what}</Error><RequestId>gpuprov-lab</RequestId>"
    return f"{head}<ErrorResponse>{whole}</ErrorResponse>"


def corrected_status(status: int, body: bytes) -> int:
    """Return the status that EC2 answers where moto says 400."""
    if status != 400:  # noqa: PLR2004 (moto's only one)
        return status
    for code, right in STATUSES.items():
        if f"<Code>{code}</Code>".encode() in body:
            return right
    return status


def text(value: Any) -> str:
    """Return the text of a moto value that may be None."""
    return "" if value is None else str(value)
