"""The kernel of a host: what must run, what must be booted next, and the file by which GRUB boots it."""

from typing import Final

from gpuprov.want.types import FileWant

KERNEL_PATH: Final = "/etc/default/grub.d/zz-gpuprov-kernel.cfg"
"""Read by grub-mkconfig after the OS's own files there, so that ours has the last word."""
RELEASE: Final = "host.kernel.release"
"""The fact that names the kernel that runs."""
NEXT: Final = "host.kernel.next"
"""The fact that names the kernel that the next boot takes."""


def kernel_file(release: str, marker: str) -> FileWant:
    """Have GRUB boot one kernel, whatever newer ones are installed.

    grub-mkconfig (grub 2.06, Debian 12) reads the file as shell, with its library and GRUB_DEVICE at hand; its entries
    are named `gnulinux-RELEASE-advanced-DEVICE`, in the submenu `gnulinux-advanced-DEVICE` unless that is disabled.

    Args:
        release: as `uname -r` prints it.
        marker: first line of files of gpuprov.
    """
    text = f"""\
{marker}
gpuprov_device="$(grub_get_device_id "${{GRUB_DEVICE}}")"
GRUB_DEFAULT="gnulinux-{release}-advanced-${{gpuprov_device}}"
case "${{GRUB_DISABLE_SUBMENU}}" in
  y|yes|true) ;;
  *) GRUB_DEFAULT="gnulinux-advanced-${{gpuprov_device}}>${{GRUB_DEFAULT}}" ;;
esac
"""
    return FileWant(path=KERNEL_PATH, text=text)
