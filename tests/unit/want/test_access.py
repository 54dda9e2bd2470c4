from dataclasses import replace

import pytest
from host_builders import make_want
from settled_builders import ACCESS, KEY

from gpuprov.spec.access import AccessSpec, GroupSpec, MemberSpec, SudoSpec
from gpuprov.want.access import access_files, access_want, is_access_file, with_access_of
from gpuprov.want.files import MARKER
from gpuprov.want.narrow import leave_alone
from gpuprov.want.types import AccessWant, GroupWant, UserWant

OTHER = KEY.replace("ana", "laptop")


def texts(access: AccessSpec) -> dict[str, str]:
    return {file.path: file.text for file in access_files(access)}


def test_a_user_of_two_groups_is_one_user_with_all_keys() -> None:
    access = AccessSpec(
        groups={
            "ops": GroupSpec(members=(MemberSpec(name="ana", keys=(OTHER, KEY)),)),
            "ml": GroupSpec(members=(MemberSpec(name="ana", keys=(KEY,), uid=2001), MemberSpec(name="bob"))),
        }
    )
    assert access_want(access) == AccessWant(
        users=(UserWant(name="ana", uid=2001), UserWant(name="bob")),
        groups=(GroupWant(name="ml", members=("ana", "bob")), GroupWant(name="ops", members=("ana",))),
        keys=True,
    )
    assert texts(access) == {"/etc/ssh/gpuprov/ana": f"{MARKER}\n{OTHER}\n{KEY}\n"}


@pytest.mark.parametrize(
    ("sudo", "rule"),
    [
        (SudoSpec(all=True), "%ml ALL=(ALL:ALL) NOPASSWD: ALL"),
        (SudoSpec(commands=("/bin/a", "/bin/b x*")), "%ml ALL=(root) NOPASSWD: /bin/a, /bin/b x*"),
        (SudoSpec(commands=("/bin/a x=1,y:2 #3",)), r"%ml ALL=(root) NOPASSWD: /bin/a x\=1\,y\:2 \#3"),
    ],
)
def test_a_rule_of_sudo_says_what_the_spec_says_and_is_checked_before_it_counts(sudo: SudoSpec, rule: str) -> None:
    (file,) = access_files(AccessSpec(groups={"ml": GroupSpec(sudo=sudo)}))
    assert (file.path, file.mode, file.text) == ("/etc/sudoers.d/gpuprov-ml", "0440", f"{MARKER}\n{rule}\n")
    assert file.validate.startswith("visudo -c")


def test_no_sudo_is_no_file_and_no_keys_leave_sshd_alone() -> None:
    access = AccessSpec(groups={"ml": GroupSpec(members=(MemberSpec(name="ana"),))})
    assert access_files(access) == ()
    assert access_want(access).keys is False


def test_earlier_software_does_not_bring_back_who_was_taken_out_since() -> None:
    before, now = make_want(settled=True).pool, make_want(files={}).pool
    back = with_access_of(before, now)
    assert back.access == AccessWant()
    assert [file.path for file in back.files if is_access_file(file.path)] == []
    assert (back.packages, back.tuning) == (before.packages, before.tuning)
    assert {file.path for file in back.files} < {file.path for file in before.files}
    assert back.digest not in {before.digest, now.digest, ""}
    same = replace(now, access=before.access, files=before.files)
    assert with_access_of(before, same) is before


def test_a_play_leaves_alone_who_is_waived_or_could_not_be_seen() -> None:
    want = make_want(settled=True)
    left = leave_alone(want, {'user["ana"].state', "host.ssh.keys", 'sysctl["vm.swappiness"].value'}).pool
    assert [user.name for user in left.access.users] == ["bob"]
    assert [group.members for group in left.access.groups] == [("bob",)]
    assert left.access.keys is False
    assert dict(left.tuning.settings) == {"vm.nr_hugepages": "16"}
    assert leave_alone(want, {'group["ml"].members'}).pool.access.groups == ()
    assert ACCESS.groups.keys() == {"ml"}
