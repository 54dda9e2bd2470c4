"""Hosts by the name that ssh knows them by."""

import pytest

from gpuprov.model.diagnostic import GpuprovError
from gpuprov.provision.named import host_from_name


@pytest.mark.parametrize(
    ("name", "user", "address", "port"),
    [
        ("gpu1", None, "gpu1", 22),
        ("ops@gpu1.example:2222", "ops", "gpu1.example", 2222),
        ("10.0.0.5:22", None, "10.0.0.5", 22),
        ("ops@[fe80::1]:2222", "ops", "fe80::1", 2222),
    ],
)
def test_a_name_becomes_a_host(name: str, user: str | None, address: str, port: int) -> None:
    host = host_from_name(name)
    connection = host.connection
    assert (host.name, connection.host) == (name, name)
    assert (connection.user, connection.address, connection.port) == (user, address, port)


@pytest.mark.parametrize("name", ["", "a b", "-oProxyCommand=x", "a:b", "a/b", "user@"])
def test_a_text_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(GpuprovError) as caught:
        host_from_name(name)
    assert caught.value.diagnostics[0].code == "GP-INV-004"
