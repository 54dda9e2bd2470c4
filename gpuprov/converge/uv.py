"""Where uv is, which makes Python environments on hosts: it came with gpuprov and is carried there."""

from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def uv_program() -> str:
    """The path of uv.

    Raises:
        GpuprovError: GP-SRC-008 when its program is not there.
    """
    from uv import find_uv_bin  # noqa: PLC0415 - a play without frameworks needs none of it

    try:
        return str(find_uv_bin())
    except FileNotFoundError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-SRC-008",
                address="stack.frameworks",
                summary="uv, which installs Python packages on hosts, cannot be used: its program is not there",
                hint="Install gpuprov again: uv comes with it.",
            )
        ) from error
