"""`ssh`: the words that the system's ssh is started with."""

import pytest
from app_world import World

from gpuprov.app.access import Access
from gpuprov.app.ssh import ssh_words, words_of
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Connection


def test_a_cloud_host_is_reached_by_address_user_and_verified_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.up()
    monkeypatch.setattr("gpuprov.app.cloud_site.read_stack", lambda _site: world.stack.state())
    words = ssh_words(world.site.path, "train-b", ("uname", "-r"), Access())
    address = world.stack.resources["instance.train-b"].outputs["publicIp"]
    assert words[0] == "ssh"
    assert words[-4:] == ("--", address, "uname", "-r")
    assert words[words.index("-l") + 1] == "admin"
    assert "StrictHostKeyChecking=yes" in words
    known = world.site.state / "cloud" / "known_hosts"
    assert f'UserKnownHostsFile="{known}"' in words


def test_a_host_that_is_not_made_yet_says_so(world: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        ssh_words(world.site.path, "train-a", (), Access())
    (told,) = caught.value.diagnostics
    assert told.code == "GP-CLOUD-026"
    assert "up --target cloud" in told.hint


def test_another_name_is_no_host_of_the_site(world: World) -> None:
    with pytest.raises(GpuprovError) as caught:
        ssh_words(world.site.path, "elsewhere.example", (), Access())
    assert [d.code for d in caught.value.diagnostics] == ["GP-INV-004"]


@pytest.mark.parametrize(
    ("connection", "command", "words"),
    [
        (
            Connection(host="n", address="192.0.2.1", port=2222, user="root", key_file="/k/id"),
            (),
            ("-p", "2222", "-l", "root", "-i", "/k/id", "--", "192.0.2.1"),
        ),
        (Connection(host="n", address="n.example"), ("true",), ("--", "n.example", "true")),
    ],
)
def test_what_the_inventory_says_is_honoured(
    connection: Connection, command: tuple[str, ...], words: tuple[str, ...]
) -> None:
    assert words_of(connection, command)[-len(words) :] == words


def test_this_machine_needs_no_ssh() -> None:
    local = Connection(host="n", address="n", kind="local")
    assert words_of(local, ("echo", "a b")) == ("sh", "-c", "echo 'a b'")
    assert words_of(local, ()) == ("sh", "-i")
