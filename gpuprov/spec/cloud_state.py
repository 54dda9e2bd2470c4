"""Where the state of the cloud's stack is kept, and by what its secrets are locked."""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from gpuprov.spec.about import About

LOCAL: Final = "local"
PASSPHRASE: Final = "passphrase"  # noqa: S105 (a word of the spec)

# Amazon S3 User Guide, General purpose bucket naming rules (3 to 63 characters; seen 2026-11-30).
_BUCKET: Final = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
BACKEND: Final = rf"{LOCAL}|s3://{_BUCKET}(/[A-Za-z0-9][A-Za-z0-9._-]*)*/?"
# gocloud.dev/secrets/awskms, OpenKeeper: by id, by alias, by ARN after three slashes (seen 2026-11-30).
SECRETS: Final = (
    rf"{PASSPHRASE}|awskms://alias/[A-Za-z0-9/_-]+|awskms://[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}"
    r"|awskms://mrk-[0-9a-f]{32}|awskms:///arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/[A-Za-z0-9/_-]+"
)
_PLACE: Final = re.compile(r"s3://([^/]+)/?(.*?)/?")


@dataclass(frozen=True, kw_only=True, slots=True)
class CloudStateSpec:
    """Where the stack's state is kept."""

    backend: Annotated[
        str,
        About(
            "`local` for `.gpuprov/cloud` beside the spec, or a bucket that is there already: `s3://BUCKET/PREFIX`.",
            check="backend",
            example="s3://example-states/train",
        ),
    ] = LOCAL
    secrets: Annotated[
        str,
        About(
            "What locks the secrets in the state: `passphrase`, or a key of AWS KMS.",
            check="secrets",
            example="awskms://alias/gpuprov",
        ),
    ] = PASSPHRASE

    def bucket(self) -> tuple[str, str] | None:
        """Bucket and prefix, the latter without a slash at its ends; None for files."""
        found = _PLACE.fullmatch(self.backend)
        return (found[1], found[2]) if found else None
