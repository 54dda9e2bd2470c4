"""Builders that a killed `image build` left: stacks of their own, which `destroy` takes away with the hosts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gpuprov.app.site import Site
from gpuprov.cloud.decide.tags import ID
from gpuprov.cloud.state import StackState
from gpuprov.cloud.state_names import stacks_in
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.progress import Report
from gpuprov.model.resource import ResourceAction, ResourceChange
from gpuprov.provision.host_keys import forget_all


class Builder(Protocol):
    """What is asked of a builder's stack; see `gpuprov.cloud.stack`."""

    def state(self) -> StackState:
        """What is recorded of it."""

    def recover(self, find: Callable[[str, str], str | None], report: Report) -> tuple[Diagnostic, ...]:
        """Settle what an interrupted run left."""

    def remove(self, *, report: Report) -> None:
        """Delete all that it holds, and itself."""


def builder_name(spec: str, pool: str) -> str:
    """The name of the stack of a pool's image builder."""
    return f"{spec}-image-{pool}"


def builder_keys(folder: Path, pool: str) -> Path:
    """The folder of a builder's host keys, inside that of the site's stacks."""
    return folder / f"image-{pool}"


def builder_places(site: Site, main: StackPlace) -> dict[str, StackPlace]:
    """Pool -> the stack of its builder, for each that has files; pools that the spec no longer has are among them."""
    start = builder_name(site.spec.name, "")
    return {
        name.removeprefix(start): replace(main, name=name) for name in stacks_in(main.files) if name.startswith(start)
    }


def builder_changes(builders: Mapping[str, Builder], spec: str) -> tuple[ResourceChange, ...]:
    """What goes with the builders of a spec that still hold something."""
    states = {pool: builder.state() for pool, builder in builders.items()}
    return tuple(
        ResourceChange(address=f"{address} (image builder of {pool})", type=kind, action=ResourceAction.DELETE, urn=urn)
        for pool, state in states.items()
        if _is_builder(state, spec, pool)
        for address, kind, urn in (
            *((row.address, row.type, row.urn) for row in state.resources.values()),
            *((one.address, one.type, one.urn) for one in state.pending),
        )
    )


def remove_builders(
    builders: Mapping[str, Builder],
    find: Callable[[str, str], str | None],
    report: Report,
    *,
    spec: str,
    folder: Path,
) -> tuple[tuple[ResourceChange, ...], tuple[Diagnostic, ...]]:
    """Take them away; returns what went, and why what stayed did.

    Args:
        builders: pool -> stack.
        find: looks in the account for what a cut off run left.
        report: where progress goes.
        spec: whose builders.
        folder: of the site's stacks.
    """
    gone: list[ResourceChange] = []
    told: list[Diagnostic] = []
    for pool, builder in builders.items():
        state = builder.state()
        if not state.exists or not _is_builder(state, spec, pool):
            continue
        try:
            told += builder.recover(find, report)
            going = builder_changes({pool: builder}, spec)
            builder.remove(report=report)
        except GpuprovError as error:
            told += error.diagnostics
            continue
        gone += going
        forget_all(builder_keys(folder, pool))
    return tuple(gone), tuple(told)


def _is_builder(state: StackState, spec: str, pool: str) -> bool:
    """Whether a stack of this name is a builder's: a spec of the same folder may be called `train-image-x` itself."""
    tags = (row.inputs.get("tags") for row in state.resources.values())
    ids = [str(tag.get(ID, "")) for tag in tags if isinstance(tag, Mapping)]
    return all(one.startswith(f"{spec}:image:{pool}/") for one in ids)
