"""What of the locked packages gpuprov never removes again: kernels, and what only others need of the OS."""

from dataclasses import replace

from host_builders import make_lock

from gpuprov.lock.types import Lock
from gpuprov.model.package import PackageRow
from gpuprov.want.packages import wanted_packages


def needed(lock: Lock) -> set[str]:
    return {package.name for package in wanted_packages(lock, lock.pools["train"]) if package.needed}


def test_the_kernel_stays_and_what_was_asked_for_goes() -> None:
    lock = make_lock(kernel="6.1.0-37-amd64")
    assert needed(lock) == {"linux-image-6.1.0-37-amd64", "linux-headers-6.1.0-37-amd64"}


def test_of_a_closure_the_os_packages_that_nobody_asked_for_stay() -> None:
    lock = make_lock()
    pool = lock.pools["train"]
    more = [("libc6", "2.36-9", "os/bookworm"), ("libnvidia-x", "580.95.05-1", "os"), ("nv-lib", "1-1", "nvidia")]
    rows = tuple(PackageRow(name=n, version=v, arch="amd64", source=s, sha256="0" * 64) for n, v, s in more)
    closure = replace(lock, pools={"train": replace(pool, packages=(*pool.packages, *rows))})
    # The driver's own set moves with the driver, also from the OS; what comes from the vendor has no other user.
    assert needed(closure) == {"libc6"}
