"""What the live checks share: their variables, one AWS account as it was before, one spec in it, and its removal.

Run them with `pytest -m live tests/live`. None is ever skipped: one that lacks a variable fails and says which.
Credentials come from the profile; other AWS, Pulumi and gpuprov variables are cleared, as for every test.
"""

import ipaddress
import os
import secrets
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpuprov.cloud.account import Account as ProductAccount
from gpuprov.cloud.account import open_account
from gpuprov.spec.cloud import CloudNetworkSpec, CloudSpec
from tests.e2e.account import storage_names
from tests.live.account import LiveAccount
from tests.live.settings import needed
from tests.live.site import LiveSite, make_cloud_site

GPU_TYPES = ("g4dn.xlarge", "g6.xlarge")
"""The smallest types with one GPU; the first that the region offers is used."""
_OWN_ADDRESS = "https://checkip.amazonaws.com"
"""AWS's own answer to the question from where a caller comes."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep live checks in the order of their files, whatever shuffles them: they share instances that cost money."""
    here = Path(__file__).parent
    places = [number for number, item in enumerate(items) if here in item.path.parents]
    ours = sorted((items[n] for n in places), key=lambda item: (item.path.name, item.location[1] or 0, item.name))
    for number, item in zip(places, ours, strict=True):
        items[number] = item


@pytest.fixture(scope="session")
def cloud_target() -> CloudSpec:
    """`targets.cloud` of the account under test."""
    return CloudSpec(
        account=needed("GPUPROV_LIVE_ACCOUNT"),
        region=needed("GPUPROV_LIVE_REGION"),
        profile=needed("GPUPROV_LIVE_PROFILE"),
        network=CloudNetworkSpec(cidr="10.77.0.0/16", ranges={}, ssh_from=()),
    )


@pytest.fixture(scope="session")
def spend() -> None:
    """Leave to spend money."""
    needed("GPUPROV_LIVE_SPEND")


@pytest.fixture(scope="session")
def account(cloud_target: CloudSpec) -> LiveAccount:
    """The account, asked past gpuprov."""
    return LiveAccount(str(cloud_target.profile), cloud_target.region)


@pytest.fixture(scope="session")
def product_account(cloud_target: CloudSpec) -> ProductAccount:
    """The account as gpuprov opens it: caller, number and region are checked."""
    return open_account(cloud_target, os.environ)


@pytest.fixture(scope="session")
def before(account: LiveAccount) -> frozenset[str]:
    """What the account held before any check made something."""
    return account.listing()


@pytest.fixture(scope="session")
def cloud_site(
    cloud_target: CloudSpec,
    product_account: ProductAccount,
    account: LiveAccount,
    before: frozenset[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveSite]:
    """A locked spec of one GPU instance; whatever is made of it is removed at the end, and looked for."""
    offered = product_account.offerings(GPU_TYPES)
    gpu_type = next((name for name in GPU_TYPES if offered.get(name)), None)
    assert gpu_type, f"{cloud_target.region} offers none of {', '.join(GPU_TYPES)}: choose another region"
    name = f"live-{secrets.token_hex(3)}"
    folder = tmp_path_factory.mktemp(name)
    try:
        yield make_cloud_site(
            folder,
            name=name,
            account=cloud_target.account,
            region=cloud_target.region,
            profile=str(cloud_target.profile),
            gpu_type=gpu_type,
            here=_own_address(),
        )
    finally:
        _remove(LiveSite(folder=folder), account, name, before)


@pytest.fixture(scope="session")
def made(spend: None, cloud_site: LiveSite) -> Any:
    """The JSON of the first `up`: one instance, made and brought to the lock."""
    return cloud_site.up()


def _own_address() -> str:
    with urllib.request.urlopen(_OWN_ADDRESS, timeout=30) as answer:
        return str(ipaddress.IPv4Address(answer.read().decode("ascii").strip()))


def _remove(site: LiveSite, account: LiveAccount, name: str, before: frozenset[str]) -> None:
    """Remove what was made, by gpuprov; instances that it leaves are ended by tag; what is still there is told."""
    told = []
    if (site.folder / ".gpuprov" / "cloud").exists():
        first = site.run("destroy", "--target", "cloud", "--yes", "--json", expect=None)
        resources = first.body["resources"] if first.status == 0 else {"left": ("bucket.datasets", "volume.scratch")}
        left = resources["left"] if resources else ()
        data = [word for storage in storage_names(left) for word in ("--delete-data", storage)]
        told.append(first)
        if data:
            told.append(site.run("destroy", "--target", "cloud", "--yes", *data, expect=None))
        told.append(site.run("image", "prune", "--keep", "0", "--yes", expect=None))
    ended = account.terminate(name)
    differing = account.settle(before)
    if ended or differing:
        said = "\n".join(f"status {run.status}: {run.stderr}" for run in told if run.status)
        pytest.fail(
            f"the account {'needed help' if ended else 'is not as it was'}: instances ended by tag: {sorted(ended)};"
            f" differing now (look at each, it may cost money): {sorted(differing)}\n{said}",
            pytrace=False,
        )
