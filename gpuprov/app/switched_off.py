"""Cloud hosts that did not answer because somebody switched them off: EC2 is asked, and only where one is missing."""

import os
from collections.abc import Mapping, Sequence

from gpuprov.app.site import Site
from gpuprov.app.targets import made_names
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.snapshot import NotObserved


def with_switched_off(site: Site | None, missing: Sequence[NotObserved]) -> tuple[NotObserved, ...]:
    """The hosts that could not be looked at, those that are switched off with that as the reason.

    Where the account cannot be asked, nothing is known of that, and every host stays what it was: not observed.

    Args:
        site: says which hosts are in the cloud; None without a spec.
        missing: hosts that did not answer.
    """
    if site is None or site.spec.cloud is None:
        return tuple(missing)
    # What only has no partner to be held against was looked at, or read from a file.
    ours = made_names(site).keys() & {one.host for one in missing if not one.code.startswith("GP-PAR")}
    off = _switched_off(site, ours) if ours else {}
    return tuple(off.get(one.host, one) for one in missing)


def _switched_off(site: Site, names: set[str]) -> Mapping[str, NotObserved]:
    # Imported here: whoever has a rack, or whose hosts all answer, does not wait for the cloud's libraries.
    from gpuprov.app.cloud_hosts import only, sort_hosts  # noqa: PLC0415
    from gpuprov.app.cloud_site import cloud_of, read_stack  # noqa: PLC0415
    from gpuprov.cloud.account import open_account  # noqa: PLC0415

    cloud = cloud_of(site)
    try:
        made = only(read_stack(site).made, lambda name: name in names)
        if not made.hosts:
            return {}
        health = open_account(cloud, os.environ).health([host.instance_id for host in made.hosts])
    except GpuprovError:
        return {}
    absent = sort_hosts(made, health, region=cloud.region).absent
    return {name: found for name, found in absent.items() if found.off}
