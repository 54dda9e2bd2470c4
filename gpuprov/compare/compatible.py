"""Rules by which two hosts' values may differ and still go together; the facet table names them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import Snapshot
from gpuprov.model.version import driver_branch
from gpuprov.rules.answer import Verdict
from gpuprov.rules.cuda import cuda_needs_driver
from gpuprov.rules.facts import PoolFacts

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
    "kernel-has-driver": kernel_has_driver,
}
"""Rules by the name that the facet table uses."""
