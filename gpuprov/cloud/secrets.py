"""What locks the secrets in a stack's state: a passphrase, or a key of AWS KMS; never another one than the spec's.

An engine that is given a passphrase encrypts a state that was under a key anew with it, without a word (engine 3.274.1,
tried 2026-11-30), unless its settings name the key. So they are taken from the state, and a difference is refused.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from pulumi.automation import StackSettings

from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud_state import PASSPHRASE
from gpuprov.store.files import sync_folder

_VARIABLES: Final = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_CLOUD: Final = "cloud"
"""The engine's word for a key of some cloud's service."""


def secrets_variables(
    place: StackPlace, environment: Mapping[str, str], deployment: Mapping[str, Any] | None
) -> Mapping[str, str]:
    """What the engine needs in its environment to open the secrets.

    Args:
        place: which stack.
        environment: this process's own.
        deployment: of the stack; None while there is none.

    Raises:
        GpuprovError: GP-CLOUD-012 when the state has a passphrase that is not here; GP-DOC-007 when a new one cannot
            be kept.
    """
    if place.secrets != PASSPHRASE:
        # Whatever else is lost, the state's own settings count before a passphrase that stands in the environment.
        return {"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true"}
    if any(name in environment for name in _VARIABLES):
        return {}
    path = place.folder / "passphrase"
    if place.bucket is not None and deployment is not None and not path.exists():
        raise GpuprovError(_elsewhere(place, path))
    return passphrase_variables(place.folder)


def passphrase_variables(folder: Path) -> Mapping[str, str]:
    """Say how the engine gets the passphrase: from a file that is made here once.

    Raises:
        GpuprovError: GP-DOC-007 when the file cannot be made.
    """
    path = folder / "passphrase"
    try:
        # Under its own name only when it is whole: a half-written one would lock the state for ever.
        if not path.exists():
            beside = folder / f".passphrase.{secrets.token_hex(6)}.tmp"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(beside, path)  # Whoever comes second takes the first one's.
            except FileExistsError:
                pass
            finally:
                beside.unlink()
            sync_folder(folder)
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-007",
                address=str(path),
                summary=f"cannot write {path}: {(error.strerror or str(error)).lower()}",
                hint="check the folder, or give the passphrase yourself in PULUMI_CONFIG_PASSPHRASE",
            )
        ) from error
    return {"PULUMI_CONFIG_PASSPHRASE_FILE": str(path.absolute())}


def provider_url(place: StackPlace) -> str | None:
    """The key as the engine takes it; None for a passphrase.

    The region is that of the key's ARN, else the hosts'.
    """
    if place.secrets == PASSPHRASE:
        return None
    arn = place.secrets.partition(":///")[2].split(":")
    region = arn[3] if len(arn) > 3 else place.region  # noqa: PLR2004 - arn:PARTITION:kms:REGION:...
    return f"{place.secrets}?{urlencode({'region': region, 'awssdk': 'v2'})}"


def secrets_settings(deployment: Mapping[str, Any] | None) -> StackSettings | None:
    """The settings that a state's secrets belong to: a lost work folder must not lead to others.

    Without the salt any passphrase would be accepted. None while there is no state that says so.
    """
    kind, state = _provider(deployment)
    if kind == PASSPHRASE:
        return StackSettings(encryption_salt=state.get("salt"))
    if kind == _CLOUD:
        return StackSettings(secrets_provider=state.get("url"), encrypted_key=state.get("encryptedkey"))
    return None


def refuse_other_secrets(place: StackPlace, deployment: Mapping[str, Any] | None) -> None:
    """Refuse a state whose secrets are under something else than the spec says.

    Raises:
        GpuprovError: GP-CLOUD-061.
    """
    kind, state = _provider(deployment)
    found = PASSPHRASE if kind == PASSPHRASE else str(state.get("url") or kind).partition("?")[0]
    if not kind or _same(found, place.secrets):
        return
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-061",
            address="targets.cloud.state.secrets",
            summary=f"the state's secrets are under {found}, and the spec says {place.secrets}",
            detail="the engine would encrypt them anew without asking; nothing was changed",
            hint=f"write `secrets: {found}` back; to change it, `pulumi stack change-secrets-provider` does so once",
        )
    )


def _provider(deployment: Mapping[str, Any] | None) -> tuple[str, Mapping[str, Any]]:
    found = (deployment or {}).get("secrets_providers") or {}
    state = found.get("state")
    return str(found.get("type") or ""), state if isinstance(state, Mapping) else {}


def _same(first: str, second: str) -> bool:
    one, other = urlsplit(first), urlsplit(second)
    return (one.scheme, one.netloc, one.path) == (other.scheme, other.netloc, other.path)


def _elsewhere(place: StackPlace, path: Path) -> Diagnostic:
    return Diagnostic(
        code="GP-CLOUD-012",
        address=place.name,
        summary="the passphrase of the stack's state is not on this machine",
        detail=f"the state is in a bucket, and the file {path} is missing; no new one was made",
        hint="copy that file from where the stack was made, or give PULUMI_CONFIG_PASSPHRASE; a key of AWS KMS"
        " (targets.cloud.state.secrets) needs neither",
    )
