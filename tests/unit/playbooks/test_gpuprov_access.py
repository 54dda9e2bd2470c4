"""gpuprov_access in a process of its own, on accounts of the test and with programs that write down their calls."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # starts other programs: not for `make quick`

Run = Callable[..., dict[str, Any]]
PLACE = "/etc/ssh/gpuprov/%u"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with passwd, group, shadow, and programs that only write down what they are asked."""
    (tmp_path / "passwd").write_text(
        "root:x:0:0::/root:/bin/bash\nbackup:x:34:34::/:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n"
    )
    (tmp_path / "group").write_text("root:x:0:\ndocker:x:999:eve\nbob:x:1001:\n")
    (tmp_path / "shadow").write_text("root:*:19000:0:99999:7:::\nbob:!:19000:0:99999:7:::\n")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("useradd", "usermod", "groupadd", "gpasswd", "systemctl"):
        (programs / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{tmp_path}/calls\n')
    (programs / "getent").write_text('#!/bin/sh\n[ "$2" = ldap-user ]\n')
    # Like sshd: the first AuthorizedKeysFile counts, and the folder is read before the rest.
    (programs / "sshd").write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/broken ] && {{ echo 'bad option' >&2; exit 255; }}\n"
        f"f={tmp_path}/sshd.d/ours.conf; [ -e {tmp_path}/no-include ] && f=/nowhere\n"
        "sed -n 's/^AuthorizedKeysFile /authorizedkeysfile /p' $f 2>/dev/null | grep . ||"
        " echo authorizedkeysfile .ssh/a\n"
    )
    for program in programs.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def access(run_module: Run, host: Path) -> Run:
    def run(*, check: bool = False, **params: Any) -> dict[str, Any]:
        places = {
            "record": str(host / "state" / "access.json"),
            "accounts": str(host),
            "sshd": str(host / "programs" / "sshd"),
            "ssh_file": str(host / "sshd.d" / "ours.conf"),
        }
        return run_module("gpuprov_access", check=check, **{**places, **params})

    return run


def calls(host: Path) -> list[str]:
    path = host / "calls"
    return path.read_text().splitlines() if path.exists() else []


def recorded(host: Path) -> Any:
    path = host / "state" / "access.json"
    return json.loads(path.read_text()) if path.exists() else {}


WANTED = {
    "users": [{"name": "ana", "uid": 2001}, {"name": "bob", "uid": None}],
    "groups": [
        {"name": "ml", "gid": 2000, "members": ["ana", "bob"]},
        {"name": "docker", "gid": None, "members": ["eve"]},
    ],
}


def test_what_is_missing_is_made_and_written_down_as_made(access: Run, host: Path) -> None:
    done = access(**WANTED)
    assert done["changes"] == ["user ana made", "group ml made", "ana joined ml", "bob joined ml"]
    assert calls(host) == [
        "useradd --create-home --shell /bin/bash --user-group --uid 2001 ana",
        "groupadd --gid 2000 ml",
        "gpasswd --add ana ml",
        "gpasswd --add bob ml",
    ]
    assert recorded(host) == {"users": ["ana"], "members": {"ml": ["ana", "bob"]}}


def test_check_mode_says_the_same_and_touches_nothing(access: Run, host: Path) -> None:
    checked = access(check=True, keys=f"{host}/keys/%u", **WANTED)
    assert (calls(host), recorded(host), (host / "sshd.d").exists()) == ([], {}, False)
    assert access(keys=f"{host}/keys/%u", **WANTED)["changes"] == checked["changes"]


def test_a_host_that_is_as_wanted_is_not_touched(access: Run, host: Path) -> None:
    done = access(users=[{"name": "bob", "uid": 5000}], groups=[{"name": "docker", "gid": None, "members": ["eve"]}])
    assert (done["changed"], calls(host), recorded(host)) == (False, [], {})


def test_an_account_is_opened_and_closed_and_nothing_of_it_is_deleted(access: Run, host: Path) -> None:
    assert access(lock=["bob", "nobody-there"])["changes"] == ["user bob locked"]
    assert calls(host) == ["usermod --expiredate 1 bob"]
    (host / "shadow").write_text("bob:!:19000:0:99999:7::1:\n")
    assert access(lock=["bob"])["changed"] is False
    assert access(users=[{"name": "bob", "uid": None}])["changes"] == ["user bob opened"]
    assert calls(host)[1:] == ["usermod --expiredate  bob"]


def test_a_member_that_leaves_is_no_longer_ours_and_others_stay(access: Run, host: Path) -> None:
    access(groups=[{"name": "docker", "gid": None, "members": ["bob"]}])
    assert recorded(host)["members"] == {"docker": ["bob"]}
    (host / "group").write_text("docker:x:999:eve,bob\n")
    assert access(leave=[{"group": "docker", "name": "bob"}])["changes"] == ["bob left docker"]
    assert calls(host) == ["gpasswd --add bob docker", "gpasswd --delete bob docker"]
    assert recorded(host)["members"] == {}


@pytest.mark.parametrize(
    ("params", "subject", "words"),
    [
        ({"users": [{"name": "backup", "uid": None}]}, "backup", "account of the system"),
        ({"users": [{"name": "ldap-user", "uid": None}]}, "ldap-user", "directory service"),
        ({"groups": [{"name": "ldap-user", "gid": None, "members": []}]}, "ldap-user", "directory service"),
    ],
)
def test_what_is_not_gpuprovs_to_change_is_refused_by_name(
    access: Run, host: Path, params: dict[str, Any], subject: str, words: str
) -> None:
    done = access(**params)
    assert done["failed"] is True
    assert (done["gpuprov"]["reason"], done["gpuprov"]["path"]) == ("account", subject)
    assert words in done["gpuprov"]["text"]
    assert calls(host) == []


def test_gpuprov_does_not_lock_itself_out(access: Run, host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_USER", "bob")
    assert "itself out" in access(lock=["bob"])["gpuprov"]["text"]
    assert calls(host) == []


def test_sshd_gets_one_more_place_for_keys_and_loses_only_that(access: Run, host: Path) -> None:
    place = f"{host}/keys/%u"
    assert access(keys=place)["changes"] == [f"sshd looks for keys in {place}"]
    text = (host / "sshd.d" / "ours.conf").read_text()
    assert text.endswith(f"\nAuthorizedKeysFile .ssh/a {place}\n")
    assert text.startswith("# Managed by gpuprov.")
    assert (host / "keys").stat().st_mode & 0o777 == 0o755
    assert recorded(host)["ssh"] is True
    assert access(keys=place)["changed"] is False
    assert access(forget_keys=True)["changed"] is True
    assert not (host / "sshd.d" / "ours.conf").exists()
    assert calls(host) == ["systemctl try-reload-or-restart ssh.service"] * 2
    assert "ssh" not in recorded(host)


@pytest.mark.parametrize(("state", "words"), [("no-include", "does not read that folder"), ("broken", "refuses them")])
def test_an_sshd_that_does_not_take_it_keeps_what_it_had(access: Run, host: Path, state: str, words: str) -> None:
    (host / state).touch()
    done = access(keys=PLACE.replace("/etc", str(host)))
    assert words in done["gpuprov"]["text"]
    assert not (host / "sshd.d" / "ours.conf").exists()
    assert calls(host) == []


def test_a_program_that_fails_is_told_by_the_name_of_the_user(access: Run, host: Path) -> None:
    (host / "programs" / "useradd").write_text("#!/bin/sh\necho 'useradd: UID 2001 is not unique' >&2; exit 4\n")
    done = access(**WANTED)
    assert done["gpuprov"] == {
        "reason": "account",
        "path": "ana",
        "text": "useradd ended with status 4",
        "detail": "useradd: UID 2001 is not unique",
    }


def test_a_broken_record_is_told_and_left(access: Run, host: Path) -> None:
    (host / "state").mkdir()
    (host / "state" / "access.json").write_text("")
    assert access(**WANTED)["gpuprov"]["reason"] == "record"
    assert calls(host) == []
