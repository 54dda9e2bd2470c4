"""Checks across the fields of a pool's rollout."""

from collections.abc import Iterator

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.spec.rollout import DrainSpec
from gpuprov.spec.written import WrittenPool

_COMMANDS = ("command", "back")


def rollout_problems(pool: WrittenPool, at: str) -> Iterator[Diagnostic]:
    """What of a pool's rollout does not go together.

    Args:
        pool: the pool.
        at: its address.
    """
    if pool.rollout.drain is not None:
        yield from _drain(pool.rollout.drain, f"{at}.rollout.drain")
    if pool.rollout.spread is not None and pool.cloud is not None:
        yield Diagnostic(
            code="GP-SPEC-005",
            summary="hosts in the cloud have no inventory variable to be spread by",
            address=f"{at}.rollout.spread",
            hint="take `spread` away, or give the hosts of the cloud a pool of their own",
        )


def _drain(drain: DrainSpec, at: str) -> Iterator[Diagnostic]:
    given = {"on": drain.on, "command": drain.command, "back": drain.back}
    foreign = _COMMANDS if drain.by == "slurm" else ("on",)
    for key in foreign:
        if given[key]:
            yield Diagnostic(
                code="GP-SPEC-005",
                summary=f"a drain by {drain.by} has no {key}",
                address=f"{at}.{key}",
                hint=f"take `{key}` away, or write `by: {'command' if drain.by == 'slurm' else 'slurm'}`",
            )
    for key in _COMMANDS if drain.by == "command" else ():
        if not given[key]:
            yield Diagnostic(
                code="GP-SPEC-004",
                summary=f"a drain by command needs the key {key}",
                address=f"{at}.{key}",
                hint='write `drain: {command: "site-drain $GPUPROV_HOST", back: "site-return $GPUPROV_HOST"}`',
            )
