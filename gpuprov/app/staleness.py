"""Refuse to act on a lock that its spec has left behind."""

from gpuprov.app.site import Site
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import judge_offline
from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def refuse_stale_lock(site: Site, lock: Lock) -> None:
    """Check, without a source, that the lock was made from this spec and this catalog.

    Raises:
        GpuprovError: GP-LOCK-004 with the reasons.
    """
    verdict = judge_offline(lock, site.spec)
    if not verdict.fresh:
        raise GpuprovError(
            Diagnostic(
                code="GP-LOCK-004",
                address=str(site.lock_path),
                summary="the lock is stale: it was made from other inputs",
                detail="\n".join(str(reason) for reason in verdict.reasons),
                hint=f"run `gpuprov lock -f {site.path}` and look at what moves",
            )
        )
