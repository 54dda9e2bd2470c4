"""What a lock is made from, and the refusal to act on one that its spec has left behind."""

from collections.abc import Mapping
from dataclasses import replace

from gpuprov.app.site import Site
from gpuprov.lock.images import image_needs
from gpuprov.lock.make import spec_inputs
from gpuprov.lock.pool_input import PoolInput
from gpuprov.lock.requests import catalog_inputs, pool_inputs
from gpuprov.lock.types import Lock
from gpuprov.lock.verdict import judge
from gpuprov.lock.verdict_text import stale_diagnostic
from gpuprov.model.diagnostic import GpuprovError


def lock_inputs(site: Site) -> tuple[tuple[PoolInput, ...], str, Mapping[str, str]]:
    """What every pool asks for, the digest of the spec, and what is used of the catalog, as a lock records them."""
    return pool_inputs(site.spec), spec_inputs(site.spec), catalog_inputs(site.spec)


def refuse_stale_lock(site: Site, lock: Lock) -> None:
    """Check, without a source, that the lock was made from this spec and this catalog.

    Raises:
        GpuprovError: GP-LOCK-004 with the reasons.
    """
    pools, spec, catalog = lock_inputs(site)
    # Sources are not looked at here: another controller may reach the same packages through another mirror.
    verdict = judge(
        lock,
        spec_inputs=spec,
        catalog_inputs=catalog,
        sources=lock.sources,
        pools=pools,
        images=image_needs(site.spec),
        indexes=None,
    )
    stale = stale_diagnostic(verdict)
    if stale is not None:
        raise GpuprovError(replace(stale, hint=f"run `gpuprov lock -f {site.path}` and look at what moves"))
