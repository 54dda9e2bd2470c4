"""A driver as NVIDIA's own installer leaves it: files that no package owns, the list of them, an uninstaller.

The list's form and place: nvidia-installer 590.48.01, backup.c (read 2026-11-30). The files are those of the lab's own
packages, unpacked beside dpkg.
"""

from tests.e2e.site import LabSite

PACKAGES = (
    *("firmware-nvidia-gsp", "libcuda1", "libnvidia-cfg1", "libnvidia-ml1", "nvidia-driver-cuda"),
    *("nvidia-kernel-open-dkms", "nvidia-kernel-support", "nvidia-modprobe", "nvidia-persistenced"),
)
INSTALL = """
set -e
mkdir -p -m 700 /var/lib/nvidia /var/tmp/run
cd /var/tmp/run
for name in @PACKAGES@; do
  /usr/lib/apt/apt-helper download-file "@URL@${name}_@VERSION@-1_amd64.deb" "$name.deb" >/dev/null
  dpkg-deb -x "$name.deb" root
done
(cd root && find . ! -type d | sed 's/^[.]//') >files
{ echo '@VERSION@'; echo 'NVIDIA Accelerated Graphics Driver for Linux-x86_64'; } >/var/lib/nvidia/log
while read -r file; do
  [ ! -e "$file" ] || continue
  mkdir -p "${file%/*}"
  cp -a "root$file" "$file"
  printf '1: %s\\n0\\n' "$file" >>/var/lib/nvidia/log
done <files
/usr/src/nvidia-@VERSION@/install-module install >/dev/null
find /lib/modules -name 'nvidia*.ko' -printf '1: %p\\n0\\n' >>/var/lib/nvidia/log
cat >/usr/bin/nvidia-uninstall <<'END'
#!/bin/sh
[ "$1" = --silent ] || exit 1
sed -n 's/^1: //p' /var/lib/nvidia/log | while read -r file; do rm -f "$file"; done
rm -rf /var/lib/nvidia /usr/bin/nvidia-uninstall
ldconfig
END
chmod 755 /usr/bin/nvidia-uninstall
ldconfig
nvidia-modprobe
rm -r /var/tmp/run
"""


def install(site: LabSite, name: str, version: str) -> None:
    """Put a driver on a host of the lab beside its package system, and load it."""
    text = INSTALL.replace("@PACKAGES@", " ".join(PACKAGES)).replace("@VERSION@", version)
    site.root(name, text.replace("@URL@", site.lab.description.repository_url))
