"""Rules by which two hosts' values may differ and still go together; the facet table names them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpuprov.catalog.load import rows
from gpuprov.catalog.rows_stack import EngineRow
from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.version import driver_branch
from gpuprov.rules.answer import Verdict
from gpuprov.rules.container import toolkit_fits_engine
from gpuprov.rules.cuda import cuda_needs_driver
from gpuprov.rules.facts import PoolFacts

_ENGINE: Final = "docker"
_DRIVERS: Final = ("stack.driver.nvml", "stack.driver.loaded", "stack.driver.on_disk")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What a rule says of two hosts."""

    compatible: bool | None
    """None when the rule cannot be decided."""
    reason: str
    """Why not; empty for two that are."""


COMPATIBLE: Final = Judgement(compatible=True, reason="")

Rule = Callable[[Snapshot, Snapshot], Judgement]


def cuda_runs(first: Snapshot, second: Snapshot) -> Judgement:
    """Whether a program of either host's CUDA toolkits runs on the other: every release by both drivers (GP-RULE-001).

    A difference in toolkits matters to who builds there; what was built runs wherever the driver is new enough.
    """
    doubts = []
    for one, other in ((first, second), (second, first)):
        driver = _driver(other)
        if driver is None:
            doubts.append(f"{other.host} has no driver that could run the CUDA toolkits of {one.host}")
            continue
        for release in _releases(one):
            answer = _runs(release, driver)
            if answer.compatible is False:
                return Judgement(compatible=False, reason=f"built on {one.host}, run on {other.host}: {answer.reason}")
            if answer.compatible is None:
                doubts.append(answer.reason)
    return Judgement(compatible=None, reason="; ".join(dict.fromkeys(doubts))) if doubts else COMPATIBLE


def kernel_has_driver(first: Snapshot, second: Snapshot) -> Judgement:
    """Whether each host's own kernel has a module of the driver: then which kernel it is decides nothing for CUDA.

    Without a driver on either side nothing of the stack depends on the kernel.
    """
    seen = [(side, side.observe("stack.driver.on_disk")) for side in (first, second)]
    if all(isinstance(observed, Absent) for _, observed in seen):
        return COMPATIBLE
    for side, observed in seen:
        if isinstance(observed, Absent):
            kernel = side.observe("host.kernel.release")
            name = kernel.value if isinstance(kernel, Known) else "of unknown release"
            return Judgement(
                compatible=False, reason=f"the kernel {name} of {side.host} has no driver module on the disk"
            )
    doubts = [f"{side.host}: {observed.reason}" for side, observed in seen if isinstance(observed, Unknown)]
    if doubts:
        return Judgement(compatible=None, reason="whether the kernel has a driver module: " + "; ".join(doubts))
    return COMPATIBLE


def engines_alike(first: Snapshot, second: Snapshot) -> Judgement:
    """Whether both hosts' engines read the CDI specs of either host's container toolkit, or neither does (GP-RULE-010).

    Then what gives containers their GPUs on one host gives them on the other, whatever the engines' versions are.
    """
    toolkits = [side.observe("stack.container.toolkit") for side in (first, second)]
    doubts = [f"{s.host}: {o.reason}" for s, o in zip((first, second), toolkits, strict=True) if isinstance(o, Unknown)]
    for toolkit in dict.fromkeys(str(o.value) for o in toolkits if isinstance(o, Known)):
        try:
            one, other = (_misreads(side, toolkit) for side in (first, second))
        except ValueError as error:
            return Judgement(compatible=None, reason=str(error))
        if one != other:
            return Judgement(compatible=False, reason=f"only on {(first if one else second).host}: {one or other}")
    if doubts:
        return Judgement(compatible=None, reason="whether the engine fits the container toolkit: " + "; ".join(doubts))
    return COMPATIBLE


def _misreads(side: Snapshot, toolkit: str) -> str:
    """Why a host's engine does not read a toolkit's CDI specs; empty when it does."""
    seen = side.observe("stack.container.version")
    version = str(seen.value) if isinstance(seen, Known) else ""
    locked = {package: version for row in rows(EngineRow) if row.id == _ENGINE for package in row.packages}
    facts = PoolFacts(pool="", engine=_ENGINE, toolkit=toolkit, locked=locked)
    return next((answer.summary for answer in toolkit_fits_engine(facts) if answer.verdict is Verdict.WARNING), "")


def _driver(side: Snapshot) -> str | None:
    """The version of the driver that programs meet, else of the one that the next boot loads."""
    seen = (side.observe(address) for address in _DRIVERS)
    return next((str(observed.value) for observed in seen if isinstance(observed, Known)), None)


def _releases(side: Snapshot) -> Iterator[str]:
    seen = side.observe("stack.cuda.toolkits")
    if isinstance(seen, Known) and isinstance(seen.value, list):
        for version in seen.value:
            yield ".".join(str(version).split(".")[:2])


def _runs(release: str, driver: str) -> Judgement:
    try:
        number = driver_branch(driver)
    except ValueError:
        return Judgement(compatible=None, reason=f"`{driver}` is no version of a driver")
    facts = PoolFacts(pool="", cuda=release, driver=driver, branches=(number,))
    for found in cuda_needs_driver(facts, number):
        if found.verdict in {Verdict.REFUSED, Verdict.UNKNOWN}:
            return Judgement(compatible=None if found.verdict is Verdict.UNKNOWN else False, reason=found.summary)
    return COMPATIBLE


RULES: Final[Mapping[str, Rule]] = {
    "cuda-runs": cuda_runs,
    "engines-alike": engines_alike,
    "kernel-has-driver": kernel_has_driver,
}
"""Rules by the name that the facet table uses."""
