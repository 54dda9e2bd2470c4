"""Taking off a host what an image must not carry: who starts from it is a new machine, and lets in only its own people.

| what | why |
| --- | --- |
| SSH host keys | every host of the image would have the same one, and whoever reads the image has the private part |
| machine-id (both) | journals, DHCP and monitoring tell hosts apart by it; an empty file makes systemd give a new one |
| cloud-init's state | cloud-init takes a host whose instance id it knows for an old one, and does nothing |
| authorized keys | the builder's login must not open hosts of the image; cloud-init writes those of the new instance |
| the builder's own want and proof | a host of the image has another want; what gpuprov owns there stays on record |
| logs, history, mail, temporary files, package archives | they tell of the builder, and take room |
| random seed | every host would start with the same one |
"""

from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.transport.protocol import Transport

_SECONDS: Final = 180.0
_SHOWN_LINES: Final = 12

CLEAN: Final = r"""
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get clean
if command -v cloud-init >/dev/null 2>&1; then cloud-init clean --logs; fi
rm -rf /var/lib/cloud/instances /var/lib/cloud/instance /var/lib/cloud/data /var/lib/cloud/sem
rm -f /etc/sudoers.d/90-cloud-init-users
rm -rf /var/lib/gpuprov/transactions
rm -f /var/lib/gpuprov/proven /var/lib/gpuprov/want.json
for home in /root /home/*; do
  [ -d "$home" ] || continue
  rm -f "$home/.ssh/authorized_keys" "$home/.ssh/authorized_keys2" "$home/.ssh/known_hosts"
  rm -f "$home/.bash_history" "$home/.python_history" "$home/.lesshst" "$home/.wget-hsts"
  rm -rf "$home/.ansible" "$home/.cache"
done
rm -f /etc/ssh/ssh_host_*
: >/etc/machine-id
if [ -e /var/lib/dbus/machine-id ] && [ ! -L /var/lib/dbus/machine-id ]; then
  rm -f /var/lib/dbus/machine-id
  ln -s /etc/machine-id /var/lib/dbus/machine-id
fi
rm -f /var/lib/systemd/random-seed /loader/random-seed
if command -v journalctl >/dev/null 2>&1; then journalctl --relinquish-var >/dev/null 2>&1 || true; fi
rm -rf /var/log/journal/*
find /var/log -type f \( -name '*.gz' -o -name '*.[0-9]' -o -name '*.xz' \) -delete
find /var/log -type f -exec truncate --size=0 {} +
rm -rf /var/tmp/* /tmp/ansible* /var/mail/* /var/lib/dhcp/*.leases
sync
"""
"""For `sh` as root; it ends with a status other than 0 when a step that matters fails."""


def clean_host(transport: Transport) -> None:
    """Make a host fit for being copied; it must not be started again afterwards but as the image's source.

    The connection stays open until its own end: sshd needs its keys for new connections only.

    Raises:
        GpuprovError: GP-CONV-001 with what the host said.
    """
    outcome = transport.run(CLEAN, timeout=_SECONDS, root=True)
    if outcome.status != 0:
        lines = (outcome.stdout + outcome.stderr).decode(errors="replace").strip().splitlines()
        raise GpuprovError(
            Diagnostic(
                code="GP-CONV-001",
                address=transport.host,
                summary=f"the builder could not be cleaned for an image (status {outcome.status})",
                detail="\n".join(lines[-_SHOWN_LINES:]),
                hint="no image was made of it",
            )
        )
