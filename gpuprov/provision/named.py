"""A host by the name that ssh knows it by, without an inventory."""

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Connection, Host
from gpuprov.provision.jumps import read_place


def host_from_name(name: str) -> Host:
    """Make a host from `[user@]host[:port]` or an alias of the user's ssh configuration.

    Raises:
        GpuprovError: GP-INV-004 for a text that can be no host's name.
    """
    place = read_place(name)
    if place is None or name.startswith("-"):
        raise GpuprovError(
            Diagnostic(
                code="GP-INV-004",
                address=name,
                summary=f"{name!r} is no host's name",
                detail="expected [user@]host[:port], or a Host of the ssh configuration",
            )
        )
    user, address, port = place
    connection = Connection(host=name, address=address, port=port, user=user)
    return Host(name=name, pool="", target="onprem", connection=connection)
