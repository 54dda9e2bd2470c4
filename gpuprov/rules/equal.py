"""Packages that must have one upstream version: the driver with its companions, the container toolkit's four."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows_stack import CompanionRow
from gpuprov.model.version import upstream
from gpuprov.rules.answer import Answer, Said, Verdict
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-007"
_SOURCE: Final = (
    "NVIDIA Driver Installation Guide: version locking; Container Toolkit 1.18.0 release notes; seen 2026-11-30"
)


def check_equal(label: str, packages: Mapping[str, str], address: str) -> Iterator[Answer]:
    """Refused when packages of one set have several upstream versions.

    Args:
        label: what the set is called.
        packages: name to version.
        address: the field of the spec that asks for the set.
    """
    versions = {upstream(version) for version in packages.values()}
    if len(versions) > 1:
        yield Answer(
            rule=_RULE,
            verdict=Verdict.REFUSED,
            address=address,
            summary=f"the {label} set has several versions: {', '.join(sorted(versions))}",
            facts=(Said(what="they must be equal", source=_SOURCE),),
            consequence="\n".join(f"{name} {packages[name]}" for name in sorted(packages)),
            satisfies="make the lock again; when that does not help, name one version",
        )


def companions_equal(facts: PoolFacts) -> Iterator[Answer]:
    """Refused when a locked package that must equal the driver does not: Fabric Manager, NSCQ, IMEX and their like."""
    for row in rows(CompanionRow, facts.catalog) if facts.driver else ():
        # What the OS archive has of the driver is versioned there; a vendor's companion still has to be equal.
        if not row.equal or (facts.from_os and row.id == "persistenced"):
            continue
        for name, version in sorted(facts.locked.items()):
            if upstream(version) == facts.driver or not any(re.fullmatch(p, name) for p in row.patterns):
                continue
            yield Answer(
                rule=_RULE,
                verdict=Verdict.REFUSED,
                address=facts.addresses.packages if name in facts.packages else facts.addresses.driver,
                summary=f"{name} is {upstream(version)}, and the driver is {facts.driver}",
                facts=(
                    Said(what=f"{row.id} must equal the driver", source=cite(row, "equal", facts.catalog)),
                    Said(what=f"driver {facts.driver}", at=facts.addresses.driver),
                ),
                consequence="It would refuse to start, and CUDA with it.",
                satisfies=f"name one version for both, or leave {name} to gpuprov",
            )
