"""Canonical JSON: one text for equal values, and the digest over it."""

import hashlib
import json

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def canonical_json(value: object) -> str:
    """Write a value as canonical JSON: sorted keys, no spaces, UTF-8 as it is.

    Args:
        value: None, bool, int, text, and lists, tuples and mappings with text keys of these.

    Raises:
        GpuprovError: GP-INT-001 for any other value; a float has no single text, so it is not allowed.
    """
    _check(value, "")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """The sha256 over the canonical JSON of a value, as `sha256:<hex>`."""
    return digest_text(canonical_json(value))


def digest_text(text: str) -> str:
    """The sha256 over a text's UTF-8 bytes, as `sha256:<hex>`."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check(value: object, path: str) -> None:
    if value is None or isinstance(value, str | int):
        return
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                _refuse(f"a key of type {type(key).__name__}", path)
            _check(member, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            _check(member, f"{path}[{index}]")
    else:
        _refuse(f"a value of type {type(value).__name__}", path)


def _refuse(what: str, path: str) -> None:
    raise GpuprovError(
        Diagnostic(code="GP-INT-001", summary=f"{what} cannot be written as canonical JSON", address=path.lstrip("."))
    )
