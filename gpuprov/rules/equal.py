"""Packages that must have one upstream version: the driver with Fabric Manager, the container toolkit's four."""

from collections.abc import Mapping

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.version import upstream


def check_equal(label: str, packages: Mapping[str, str], address: str) -> tuple[Diagnostic, ...]:
    """GP-RULE-007 when packages of one set have several upstream versions.

    Args:
        label: what the set is called.
        packages: name to version.
        address: the field of the spec that asks for the set.
    """
    versions = {name: upstream(version) for name, version in packages.items()}
    if len(set(versions.values())) <= 1:
        return ()
    return (
        Diagnostic(
            code="GP-RULE-007",
            summary=f"the {label} set has several versions: {', '.join(sorted(set(versions.values())))}",
            address=address,
            detail="\n".join(f"{name} {packages[name]}" for name in sorted(packages)),
            hint="make the lock again; when that does not help, name one version",
            source="NVIDIA Driver Installation Guide: version locking; Container Toolkit 1.18.0 notes; seen 2026-11-30",
        ),
    )
