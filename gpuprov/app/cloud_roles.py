"""The roles of the account that pools name, looked at before anything is made."""

from dataclasses import replace

from gpuprov.app.cloud_site import CloudSite
from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def brought_profiles(place: CloudSite) -> dict[str, str]:
    """Role -> its instance profile, for each role of the account that a pool names.

    Raises:
        GpuprovError: GP-CLOUD-040, 041, 042 for each that hosts cannot act as.
    """
    found: dict[str, str] = {}
    refused: list[Diagnostic] = []
    for pool in place.site.spec.pools.values():
        role = pool.cloud.role if pool.cloud is not None else ""
        if role and role not in found:
            try:
                found[role] = place.account.instance_profile(role)
            except GpuprovError as error:
                refused += [replace(one, address=f"pools.{pool.name}.cloud.role") for one in error.diagnostics]
    if refused:
        raise GpuprovError(*refused)
    return found
