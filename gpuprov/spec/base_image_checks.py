"""Checks of the base images that a spec names itself."""

from collections.abc import Iterator, Mapping
from typing import Final

from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.base_image import BaseImageSpec
from gpuprov.spec.suggest import did_you_mean

_ARCHITECTURES: Final = ("amd64", "arm64")


def base_problems(bases: Mapping[str, BaseImageSpec], systems: frozenset[str], at: str) -> Iterator[Diagnostic]:
    """What is wrong with the base images of a spec, without places.

    Args:
        bases: operating system, or `OS-ARCHITECTURE`, -> where its image comes from.
        systems: operating systems of the pools with hosts in the cloud.
        at: the address of `bases`.
    """
    known = [*sorted(systems), *(f"{os}-{arch}" for os in sorted(systems) for arch in _ARCHITECTURES)]
    for key, base in bases.items():
        where = join(at, key)
        if key not in known:
            yield Diagnostic(
                code="GP-SPEC-008",
                summary=f"no pool has hosts of {key} in the cloud",
                address=where,
                detail=f"Operating systems of cloud pools: {', '.join(sorted(systems)) or 'none'}.",
                hint=did_you_mean(key, known) or "take it away",
            )
        ways = [way for way, said in _said(base).items() if said]
        if len(ways) != 1:
            yield Diagnostic(
                code="GP-SPEC-005" if ways else "GP-SPEC-004",
                summary=f"the base image of {key} is given by {' and by '.join(ways)}"
                if ways
                else f"it is not said where the base image of {key} comes from",
                address=where,
                detail="It is given by `id`, by `parameter`, or by `owner` and `name`.",
                hint="keep one of them"
                if ways
                else "write `owner` and `name`, or leave it out for the OS vendor's own",
            )
        elif bool(base.owner) != bool(base.name):
            missing = "name" if base.owner else "owner"
            yield Diagnostic(
                code="GP-SPEC-004",
                summary=f"the base image of {key} has no {missing}",
                address=join(where, missing),
                detail="Anybody may publish an image of any name: only owner and name together say whose it is.",
                hint=f"write `{missing}` too",
            )


def _said(base: BaseImageSpec) -> dict[str, bool]:
    return {"id": bool(base.id), "parameter": bool(base.parameter), "owner and name": bool(base.owner or base.name)}
