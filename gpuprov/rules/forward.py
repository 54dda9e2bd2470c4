"""Forward compatibility packages (cuda-compat) run a newer CUDA on an older driver: on data centre GPUs alone."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import branch, gpu, toolkits
from gpuprov.catalog.load import cite
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts
from gpuprov.rules.numbers import numbers

_RULE: Final = "GP-RULE-009"
_PACKAGE: Final = re.compile(r"cuda-compat-([0-9]+)-([0-9]+)")
_SOURCE: Final = "CUDA Compatibility: Forward Compatibility, seen 2026-11-30"


def compat_packages(facts: PoolFacts, number: int) -> Iterator[Answer]:
    """Refused on other GPUs; a warning where the driver is as new as the package, which then only gets in the way."""
    for name in facts.packages:
        found = _PACKAGE.fullmatch(name)
        if found is None:
            continue
        release = f"{found[1]}.{found[2]}"
        if not toolkits(release, facts.catalog):
            what = f"the CUDA release {release} of {name}"
            yield unknown(_RULE, facts.addresses.packages, what, table="toolkits")
            continue
        yield from _gpus(facts, name)
        row = branch(number, facts.catalog)
        if row is not None and row.max_cuda is not None and numbers(row.max_cuda) >= numbers(release):
            yield Answer(
                rule=_RULE,
                verdict=Verdict.WARNING,
                address=facts.addresses.packages,
                summary=f"{name} is not newer than the CUDA {row.max_cuda} of driver branch {number}",
                facts=(
                    Said(
                        what=f"branch {number} reports CUDA {row.max_cuda}", source=cite(row, "max_cuda", facts.catalog)
                    ),
                    Said(what="what the package is for", source=_SOURCE),
                ),
                consequence="The driver's own libraries do; mixed with the package's, programs fail with error 803.",
                satisfies=f"take {name} away",
            )


def _gpus(facts: PoolFacts, name: str) -> Iterator[Answer]:
    for model in facts.gpu_models:
        row = gpu(model, facts.catalog)
        if row is None or row.datacenter:
            continue
        if row.datacenter is None:
            what = f"whether the {model} is one of the RTX cards that take {name}"
            yield unknown(_RULE, facts.addresses.packages, what, table="gpus")
            continue
        yield Answer(
            rule=_RULE,
            verdict=Verdict.REFUSED,
            address=facts.addresses.packages,
            summary=f"{name} works on data centre GPUs only, and the {model} is none",
            facts=(
                Said(what="which GPUs it is for", source=_SOURCE),
                Said(what=f"the {model}", source=cite(row, "datacenter", facts.catalog)),
            ),
            consequence="Programs would fail with error 804 (not supported on this device).",
            satisfies=f"take {name} away, and use a driver that reports the CUDA you need",
        )
