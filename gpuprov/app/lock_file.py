"""The lock that is there: as the base of a new one, or to be judged even where it cannot be trusted."""

from dataclasses import dataclass, replace
from typing import Final

from gpuprov.app.site import Site, open_lock
from gpuprov.lock.text import read_edited, read_lock
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import Stale, StaleReason
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.store.files import read_text, read_text_if_there

_EDITED: Final = "GP-DOC-006"
_FORMAT: Final = ("GP-DOC-005", "GP-DOC-008")


@dataclass(frozen=True, kw_only=True, slots=True)
class Present:
    """The lock that is there, and what is wrong with the file itself."""

    lock: Lock | None
    """None when this release cannot read its form."""
    reasons: tuple[StaleReason, ...] = ()


def previous_lock(site: Site) -> Lock | None:
    """The lock that a new one starts from; None when there is none yet.

    Raises:
        GpuprovError: GP-DOC codes when it cannot be read or was edited; its versions are then not to be relied on.
    """
    text = read_text_if_there(site.lock_path)
    if text is None:
        return None
    try:
        return read_lock(text, str(site.lock_path))
    except GpuprovError as error:
        hint = f"restore {site.lock_path} from version control; without it, `gpuprov lock` chooses all versions anew"
        raise GpuprovError(*(replace(diagnostic, hint=hint) for diagnostic in error.diagnostics)) from error


def present_lock(site: Site) -> Present:
    """The lock that is to be judged: an edit by hand and another form are reasons against it.

    Raises:
        GpuprovError: GP-LOCK-005 when there is none; GP-DOC codes when the text is no lock at all.
    """
    try:
        return Present(lock=open_lock(site)[0])
    except GpuprovError as error:
        found = error.diagnostics[0]
        if found.code == _EDITED:
            lock, written = read_edited(read_text(site.lock_path), str(site.lock_path))
            reason = StaleReason(kind=Stale.EDITED, address="digest", locked=written, found=lock.digest)
            return Present(lock=lock, reasons=(reason,))
        if found.code in _FORMAT:
            address = f"{site.lock_path.name}: {found.address}"
            known = found.detail.strip().rstrip(".") or "another form"
            return Present(
                lock=None,
                reasons=(StaleReason(kind=Stale.FORMAT, address=address, locked=found.summary, found=known),),
            )
        raise
