"""Elastic Fabric Adapters: the launch templates that hold the network interfaces of new hosts.

New interfaces are made with their instance, by RunInstances; the AWS provider has several of them made only by way of a
launch template (terraform-provider-aws, ec2_instance.go, read 2026-11-30). Such interfaces belong to their instance,
and go with it: nothing of theirs is left when it ends.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gpuprov.catalog.efa import ENA, interfaces
from gpuprov.catalog.load import Catalog
from gpuprov.cloud.decide.names import shorten
from gpuprov.cloud.decide.refusals import refuse
from gpuprov.cloud.decide.standing import StandingHost
from gpuprov.cloud.decide.tags import Owner, tags
from gpuprov.spec.cloud import PoolCloudSpec

if TYPE_CHECKING:
    from gpuprov.cloud.decide.fleet import PlannedHost

LAYOUT: Final = "ip"
"""The one layout that is built."""
_TYPES: Final = {ENA: "interface"}
"""Kind in the catalog -> what EC2 calls it, where that differs."""
_NAME_LIMIT: Final = 128
"""Longest name of a launch template (EC2 API Reference, CreateLaunchTemplate, read 2026-11-30)."""


def template_of(cloud: PoolCloudSpec, owner: Owner, pool: str, zone: str, there: StandingHost | None) -> str:
    """Name of the launch template of a host; empty for none.

    A host that stands keeps its interfaces: EFAs cannot be attached to an instance that runs (EC2 User Guide, Create
    and attach an EFA, read 2026-11-30), and the provider would make another instance.

    Args:
        cloud: the pool's.
        owner: whose stack it is.
        pool: the pool's name.
        zone: where the host stands.
        there: the host as it stands; None for one that is made.
    """
    if there is not None:
        return there.template
    # With the type in it: what a template holds never changes, and no host stands with an older version of its own.
    name = f"gpuprov-{owner.stack.replace(':', '-')}-{pool}-{cloud.instance}-{zone}"
    return shorten(name, _NAME_LIMIT) if cloud.efa else ""


def template_part(
    hosts: Iterable["PlannedHost"], owner: Owner, catalog: Catalog, *, public: bool
) -> list[dict[str, object]]:
    """The document's `launch_templates`: those of which hosts were made, or will be.

    Args:
        hosts: all of them.
        owner: whose they are.
        catalog: knows how the interfaces of a type are laid out.
        public: whether hosts get public addresses.

    Raises:
        GpuprovError: GP-CLOUD-081 where the catalog does not know the interfaces of a type, GP-CLOUD-082 where such an
            instance gets no public address.
    """
    found = {host.template: host for host in hosts if host.template}
    return [_template(found[name], owner, catalog, public=public) for name in sorted(found)]


def _template(host: "PlannedHost", owner: Owner, catalog: Catalog, *, public: bool) -> dict[str, object]:
    laid = interfaces(host.type, LAYOUT, catalog)
    at = f"pools.{host.pool}.cloud.efa"
    if not laid:
        raise refuse(
            "GP-CLOUD-081",
            f"the catalog does not know how the interfaces of {host.type} are laid out for EFA",
            address=at,
            hint="`gpuprov validate` names types that take it",
        )
    if public and len(laid) > 1:
        raise refuse(
            "GP-CLOUD-082",
            f"{host.type} has {len(laid)} network interfaces with EFA, and such an instance gets no public address",
            address=at,
            hint="write `targets.cloud.network.public: false`",
        )
    return {
        "name": host.template,
        "subnet": host.zone,
        "interfaces": [
            {
                "type": _TYPES.get(each.kind, each.kind),
                "card": each.card,
                "device": each.device,
                # EC2 takes the question with a single interface only; without it our subnets give no address.
                "public": public if len(laid) == 1 else None,
            }
            for each in laid
        ],
        "tags": tags(owner, "launch_template", host.template, pool=host.pool),
    }
