"""Where a stack's state was kept the last time: a backend that was changed in the spec must not begin an empty one."""

from gpuprov.cloud.files import ENGINE, LocalFiles
from gpuprov.cloud.state_names import is_kept, state_name
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.cloud_state import LOCAL


def record_backend(place: StackPlace) -> None:
    """Keep beside the spec where the state is, on every machine that works on it."""
    local, text = LocalFiles(place.folder), place.files.backend + "\n"
    if local.read(_name(place)) != text.encode():
        local.write(_name(place), text)


def forget_backend(place: StackPlace) -> None:
    """The stack is gone: the next one may be kept anywhere."""
    LocalFiles(place.folder).remove(_name(place))


def refuse_moved(place: StackPlace) -> None:
    """Refuse to begin a stack while one of its name is kept elsewhere.

    Raises:
        GpuprovError: GP-CLOUD-060.
    """
    local, now = LocalFiles(place.folder), place.files.backend
    there = local.changed(state_name(place)) is not None
    recorded = (local.read(_name(place)) or b"").decode().strip()
    before = recorded or (LOCAL if there else now)
    if before == now or (before == LOCAL and not there) or is_kept(place):
        return
    files = str(local.path(ENGINE))
    source = files if before == LOCAL else f"{before}/.pulumi"
    target = files if now == LOCAL else f"{now}/.pulumi"
    raise GpuprovError(
        Diagnostic(
            code="GP-CLOUD-060",
            address="targets.cloud.state.backend",
            summary=f"the state of the stack {place.name} is kept in {before}, and the spec says {now}",
            detail="there is no such stack in the new place, and all would be made a second time; nothing was changed",
            hint=f"write `backend: {before}` back, or copy the state while no run is at work: `aws s3 cp --recursive"
            f" {source} {target}`",
        )
    )


def _name(place: StackPlace) -> str:
    return f"{place.name}.backend"
