"""What the stack's state says to people: what stands, and the names that are in it."""

import difflib
from collections.abc import Sequence

from gpuprov.app.site import Site
from gpuprov.app.targets import cloud_names
from gpuprov.cloud.decide.standing import Standing, standing_of
from gpuprov.cloud.state import StackState
from gpuprov.model.diagnostic import Diagnostic


def standing_in(state: StackState) -> Standing:
    """What stands, and must not be decided anew."""
    return standing_of({address: resource.inputs for address, resource in state.resources.items()})


def unknown_names(names: Sequence[str], site: Site, state: StackState) -> tuple[Diagnostic, ...]:
    """An error for each name that is no cloud host, storage, bucket or volume of spec or stack."""
    volumes = set(state.made.volumes)
    hosts = {*cloud_names(site), *(host.name for host in state.made.hosts)}
    storage = {*site.spec.storage, *state.made.buckets, *(name.partition("/")[0] for name in volumes)}
    known = hosts | storage | volumes
    return tuple(unknown_name(name, sorted(known)) for name in names if name not in known)


def unknown_name(name: str, known: Sequence[str]) -> Diagnostic:
    """The error for a name that means nothing in the cloud."""
    near = difflib.get_close_matches(name, known, n=1)
    return Diagnostic(
        code="GP-CLOUD-026",
        address=name,
        summary=f"there is no cloud host, bucket or volume `{name}`",
        detail="names: " + (", ".join(known) or "none"),
        hint=f"did you mean `{near[0]}`?" if near else "",
    )
