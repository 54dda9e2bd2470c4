"""A locked kernel on a node: installed, booted by default, rebooted into, moved when it is told to, and left to the OS.

A node's own kernel is the machine's. So `uname -r` on it is a script that, once a boot, follows GRUB's menu; and
update-grub is one that reads /etc/default/grub.d as grub-mkconfig does, and names entries as it does.
"""

import base64
import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from gpuprov.lab.vendor.deb import Entry, write_deb
from gpuprov.lab.vendor.signing import make_key
from tests.e2e.site import LabSite, touched

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

KEY = make_key()
UPDATE_GRUB = r"""#!/bin/sh
set -e
grub_get_device_id() { echo 1111-2222; }
GRUB_DEVICE=/dev/vda1 GRUB_DEFAULT=0
for x in /etc/default/grub.d/*.cfg; do [ ! -e "$x" ] || . "$x"; done
mkdir -p /boot/grub
all=$(ls /boot/vmlinuz-* | sed 's/.*vmlinuz-//' | sort -rV)
{
  printf '   set default="%s"\n' "$GRUB_DEFAULT"
  printf "menuentry 'Debian' \$menuentry_id_option 'gnulinux-simple-1111-2222' {\n\tlinux /boot/vmlinuz-%s ro\n}\n" \
    "$(echo "$all" | head -1)"
  printf "submenu 'Advanced' \$menuentry_id_option 'gnulinux-advanced-1111-2222' {\n"
  for r in $all; do
    printf "\tmenuentry 'Linux %s' \$menuentry_id_option 'gnulinux-%s-advanced-1111-2222' {\n" "$r" "$r"
    printf '\t\tlinux /boot/vmlinuz-%s ro\n\t}\n' "$r"
  done
  echo '}'
} >/boot/grub/grub.cfg
"""
UNAME = r"""#!/bin/sh
[ "$*" = -r ] || exec /usr/bin/uname.real "$@"
if [ ! -e /run/kernel ]; then
  r=$(sed -n 's/.*set default="[^"]*gnulinux-\(.*\)-advanced-1111-2222"/\1/p' /boot/grub/grub.cfg)
  [ -n "$r" ] || r=$(sed -n 's/.*vmlinuz-\([^ ]*\) ro/\1/p' /boot/grub/grub.cfg | head -1)
  echo "$r" >/run/kernel
fi
cat /run/kernel
"""
SPEC = """apiVersion: gpuprov/v1
name: kernels
os: debian-12
sources:
  os-kernels: {{url: "{url}", flat: true, key: key.asc}}
stack: {{kernel: hold}}
pools: {{cpu: {{gpu: none, onprem: {{group: cpu}}}}}}
targets: {{onprem: {{inventory: inventory/site.yml}}}}
"""


def deb(name: str, version: str, depends: str = "", files: Iterable[str] = ()) -> tuple[str, bytes]:
    control = f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: lab\nDescription: a test\n"
    control += f"Depends: {depends}\n" if depends else ""
    return control, write_deb(control, [Entry(path=path, data=b"x") for path in files], {})


def archive(folder: Path, newest: str, *others: str) -> None:
    """A signed flat repository of kernels, the metapackage for the newest one."""
    folder.mkdir(exist_ok=True)
    found = [deb("linux-image-amd64", f"{newest[:-6]}-1", f"linux-image-{newest}")]
    for release in (newest, *others):
        version = f"{release[:-6]}-1"
        found.append(deb(f"linux-image-{release}", version, files=[f"/boot/vmlinuz-{release}"]))
        found.append(deb(f"linux-headers-{release}", version, files=[f"/usr/src/linux-headers-{release}/Makefile"]))
    index = ""
    for control, data in found:
        digest = hashlib.sha256(data).hexdigest()
        (folder / f"{digest}.deb").write_bytes(data)
        index += f"{control}Filename: ./{digest}.deb\nSize: {len(data)}\nSHA256: {digest}\n\n"
    text = index.encode()
    lines = "".join(
        f" {hashlib.sha256(body).hexdigest()} {len(body)} {name}\n"
        for name, body in (("Packages", text), ("Packages.gz", gzip.compress(text, mtime=0)))
    )
    (folder / "Packages").write_bytes(text)
    (folder / "Packages.gz").write_bytes(gzip.compress(text, mtime=0))
    date = format_datetime(datetime.now(UTC), usegmt=True)
    (folder / "InRelease").write_bytes(KEY.sign_clear(f"Origin: lab\nDate: {date}\nSHA256:\n{lines}".encode()))


def carry(site: LabSite, name: str, folder: Path) -> None:
    """Put the repository at the same path on the node, so that one URL is right for both."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.add(folder, arcname=str(folder)[1:])
    text = base64.b64encode(buffer.getvalue()).decode()
    site.root(name, f"echo {text} | base64 -d | tar -xz -C / && chmod -R a+rX /{folder.relative_to('/').parts[0]}/*")


def put(site: LabSite, name: str, path: str, text: str) -> None:
    encoded = base64.b64encode(text.encode()).decode()
    site.root(name, f"echo {encoded} | base64 -d >{path}; chmod 755 {path}")


@pytest.fixture(scope="module")
def held(fresh_lab: Callable[..., LabSite]) -> LabSite:
    """A node with a newer kernel than the archive offers; the lock holds the archive's."""
    site = fresh_lab("kernel", train=0, cpu=1)
    (name,) = site.names
    kernels = site.folder / "kernels"
    archive(kernels, "6.1.0-37-amd64")
    carry(site, name, kernels)
    site.root(name, "mv /usr/bin/uname /usr/bin/uname.real")
    put(site, name, "/usr/sbin/update-grub", UPDATE_GRUB)
    put(site, name, "/usr/bin/uname", UNAME)
    # The newer one runs: without a default of ours the next boot would take it again.
    site.root(name, "mkdir -p /boot /etc/default/grub.d; echo x >/boot/vmlinuz-6.1.0-40-amd64; update-grub; uname -r")
    (site.folder / "key.asc").write_text(KEY.public)
    (site.folder / "gpuprov.yaml").write_text(SPEC.format(url=kernels.as_uri()))
    site.run("lock")
    return site


def test_the_held_kernel_is_installed_booted_by_default_and_rebooted_into(held: LabSite) -> None:
    (name,) = held.names
    boot = held.root(name, "cat /proc/sys/kernel/random/boot_id")
    shown = held.run("preview", "--target", "onprem").stdout
    for word in ("6.1.0-40-amd64 runs, 6.1.0-37-amd64 is locked", "boot     6.1.0-37-amd64", "reboot"):
        assert word in shown, shown
    first = held.up()
    assert touched(first) == {name: "changed"}
    assert first.body["hosts"][0]["rebooted"] is True
    assert boot != held.root(name, "cat /proc/sys/kernel/random/boot_id")
    assert held.root(name, "uname -r").strip() == "6.1.0-37-amd64"
    assert touched(held.up()) == {name: "satisfied"}


@pytest.mark.matrix
def test_it_moves_when_it_is_named_and_is_left_to_the_os(held: LabSite) -> None:
    (name,) = held.names
    held.up()
    # The archive moves on: the lock stays until the kernel is named.
    archive(held.folder / "kernels", "6.1.0-41-amd64", "6.1.0-37-amd64")
    carry(held, name, held.folder / "kernels")
    held.run("lock", "--upgrade")
    assert touched(held.up()) == {name: "satisfied"}
    held.run("lock", "--upgrade", "kernel")
    second = held.up()
    assert second.body["hosts"][0]["rebooted"] is True
    assert held.root(name, "uname -r").strip() == "6.1.0-41-amd64"
    there = held.root(name, "dpkg-query -W -f '${Package} ${db:Status-Want}\\n' 'linux-image-6*'").split()
    assert there == ["linux-image-6.1.0-37-amd64", "install", "linux-image-6.1.0-41-amd64", "hold"]

    # The spec leaves the kernel to the OS: nothing is removed, nothing reboots, and the newest is the default again.
    held.edit("kernel: hold", "kernel: free")
    held.run("lock")
    third = held.up()
    assert third.body["hosts"][0]["rebooted"] is False
    assert "hold" not in held.root(name, "dpkg-query -W -f '${db:Status-Want}\\n' 'linux-image-6*'")
    assert held.root(name, "ls /etc/default/grub.d").strip() == ""
    assert 'set default="0"' in held.root(name, "cat /boot/grub/grub.cfg")
    assert touched(held.up()) == {name: "satisfied"}
