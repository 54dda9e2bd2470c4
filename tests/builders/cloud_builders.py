"""Small worlds for tests of the cloud: a spec with a cloud target, its lock, what a region offers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from host_builders import make_lock, make_pool, make_spec

from gpuprov.cloud.decide.document import stack_document
from gpuprov.cloud.types import Document
from gpuprov.lock.types import Lock, LockedImage
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec, PoolCloudSpec
from gpuprov.spec.storage import StorageSpec
from gpuprov.spec.types import PoolSpec, Spec

REGION = "us-east-1"
ACCOUNT = "111122223333"
TYPE = "p5.48xlarge"
BUILDER_TYPE = "c7i.2xlarge"
ZONES = {TYPE: (f"{REGION}a", f"{REGION}b"), BUILDER_TYPE: (f"{REGION}a", f"{REGION}c")}
"""What the region offers."""
KEYS = ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample ana@desk",)
STORAGE = {
    "datasets": StorageSpec(kind="object", prefixes=("raw/", "runs/"), write=False),
    "scratch": StorageSpec(kind="volume", size="500GiB"),
}
BASE = "ami-0base"


def cloud_pool(
    name: str = "train", *, hosts: tuple[str, ...] = ("train-a", "train-b"), instance: str = TYPE
) -> PoolSpec:
    """A pool of instances."""
    return replace(make_pool(), name=name, cloud=PoolCloudSpec(instance=instance, hosts=hosts))


def cloud_network(**changes: Any) -> CloudNetworkSpec:
    """A network that an office may log in to and a monitoring site may read."""
    given: dict[str, Any] = {
        "cidr": "10.20.0.0/16",
        "ranges": {"office": ("203.0.113.0/24",), "site": ("198.51.100.7/32",)},
        "ssh_from": ("office",),
    }
    return CloudNetworkSpec(**given | changes)


def cloud_spec(
    *pools: PoolSpec, storage: Mapping[str, StorageSpec] | None = None, name: str = "train", **cloud: Any
) -> Spec:
    """A spec with a cloud target; keyword arguments beyond `storage` and `name` are fields of CloudSpec."""
    given: dict[str, Any] = {"account": ACCOUNT, "region": REGION, "network": cloud_network()}
    first, *_ = pools = pools or (cloud_pool(),)
    return replace(
        make_spec(first),
        name=name,
        pools={pool.name: pool for pool in pools},
        cloud=CloudSpec(**given | cloud),
        storage=STORAGE if storage is None else storage,
    )


def cloud_lock(*pools: str) -> Lock:
    """A lock of these pools, with the base image of the region."""
    lock = make_lock()
    names = pools or ("train",)
    image = LockedImage(os="debian-12", arch="amd64", region=REGION, owner="136693071363", name="debian-12", id=BASE)
    return replace(lock, pools={name: replace(lock.pools["train"], pool=name) for name in names}, images=(image,))


def cloud_document(spec: Spec | None = None, **arguments: Any) -> Document:
    """The document of a spec, with what the builders' region offers."""
    spec = spec or cloud_spec()
    given: dict[str, Any] = {"zones": ZONES, "login_keys": KEYS, "images": {}}
    return stack_document(spec, cloud_lock(*spec.pools), **given | arguments)


def entries(document: Document, key: str) -> dict[str, dict[str, Any]]:
    """A list of the document by its entries' names."""
    found = document[key]
    assert isinstance(found, list)
    return {entry["name"]: entry for entry in found}


def section(document: Document, key: str) -> dict[str, Any]:
    """An object of the document."""
    found = document[key]
    assert isinstance(found, dict)
    return found
