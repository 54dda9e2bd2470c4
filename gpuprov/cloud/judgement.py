"""Whether a plan may be carried out: nothing that holds data goes unless a person named it, also not with --yes."""

from collections.abc import Collection
from typing import Final

from gpuprov.cloud.state import BUCKET, HOLDING, SHARE
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.resource import ResourceAction, ResourceChange, ResourcePlan

_VERBS: Final = {ResourceAction.DELETE: "deleted", ResourceAction.REPLACE: "replaced"}


def judge(plan: ResourcePlan, *, named: Collection[str]) -> tuple[Diagnostic, ...]:
    """Refuse each deletion or replacement of an instance or of storage that nobody named.

    What an earlier replacement left to be deleted was named then.

    Args:
        plan: what the engine would do.
        named: host names, storage names and `STORAGE/HOST` that the person gave.

    Returns:
        An error with GP-CLOUD-014 for each; none when the plan may be carried out.
    """
    return tuple(
        refusal(change)
        for change in plan.changes
        if change.action in _VERBS
        and change.type in HOLDING
        and not change.leftover
        and (_is_fixed(change) or not names_of(change.address) & set(named))
    )


def _is_fixed(change: ResourceChange) -> bool:
    """What is never replaced, whoever names it.

    A bucket's name is taken while it stands, so the new one would be the old one, deleted. A share is mounted: hosts
    hang on one that is gone.
    """
    return change.type in {BUCKET, SHARE} and change.action is ResourceAction.REPLACE


def names_of(address: str) -> frozenset[str]:
    """The names by which a person means a resource: `scratch/train-a` and `scratch` for `volume.scratch/train-a`."""
    name = address.partition(".")[2]
    return frozenset({name, name.partition("/")[0]})


def refusal(change: ResourceChange) -> Diagnostic:
    """The error for one change that nobody named."""
    kind, _, name = change.address.partition(".")
    verb = _VERBS[change.action]
    reason = f" because {', '.join(change.reasons)} cannot be changed in place" if change.reasons else ""
    replaced = change.action is ResourceAction.REPLACE
    if change.type == SHARE and replaced:
        return Diagnostic(
            code="GP-CLOUD-014",
            address=change.address,
            summary=f"the share {name} would be replaced{reason}, and hosts have it mounted",
            detail="what it holds would be lost, and hosts would hang; nothing was changed",
            hint=f"take the change, or --replace {name}, back; make a share of another name, and copy what is there",
        )
    if _is_fixed(change):
        return Diagnostic(
            code="GP-CLOUD-014",
            address=change.address,
            summary=f"the bucket {name} would be replaced{reason}, and a bucket cannot be made anew under its name",
            detail="what it holds would be lost; nothing was changed",
            hint=f"take the change, or --replace {name}, back; objects are deleted with S3's own tools",
        )
    away = f"empty the bucket and give --replace {name} to have it go" if change.type == BUCKET else ""
    return Diagnostic(
        code="GP-CLOUD-014",
        address=change.address,
        summary=f"the {kind} {name} would be {verb}{reason}, and it was not named",
        detail="what it holds would be lost; nothing was changed",
        hint=f"take the change out of the spec, or give --replace {name} to have it made anew"
        if replaced
        else f"put {name} back into the spec, or {away or f'give --remove {name} to have it go with what it holds'}",
    )
