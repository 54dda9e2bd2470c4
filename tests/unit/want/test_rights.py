from dataclasses import replace

from host_builders import make_want

from gpuprov.model.fact import Known
from gpuprov.spec.access import AccessSpec, GroupSpec
from gpuprov.want.asked import asked_by
from gpuprov.want.expectations import expectations
from gpuprov.want.mounts import MountWant
from gpuprov.want.narrow import leave_alone
from gpuprov.want.rights import storage_rights
from gpuprov.want.types import HostWant, Owned

ADDRESS = 'rights["/scratch"].entries'
ML = ("group ml rwx", "group ops r-x")


def want(*rights: str) -> HostWant:
    plain = make_want()
    mount = MountWant(name="scratch", device="/dev/x", place="/scratch", filesystem="ext4", rights=rights)
    return replace(plain, pool=replace(plain.pool, mounts=(mount,)))


def expected(wanted: HostWant, owned: Owned) -> list[tuple[object, str]]:
    return [
        (e.value.value, e.comparator)
        for e in expectations(wanted, owned)
        if e.address == ADDRESS and isinstance(e.value, Known)
    ]


def test_who_writes_may_read_and_storages_that_nobody_names_have_no_rights() -> None:
    access = AccessSpec(
        groups={"ops": GroupSpec(read=("scratch", "data")), "ml": GroupSpec(write=("scratch",)), "idle": GroupSpec()}
    )
    assert storage_rights(access) == {"scratch": ML, "data": ("group ops r-x",)}


def test_entries_hold_for_what_is_made_later_as_well() -> None:
    assert expected(want(*ML), Owned()) == [
        (["group ml rwx", "group ops r-x", "default group ml rwx", "default group ops r-x"], "set")
    ]
    assert asked_by(want(*ML)).rights == ("/scratch",)


def test_a_disk_without_rights_is_not_asked_about_unless_gpuprov_gave_some() -> None:
    before = Owned(rights={"/scratch": ("group ml rwx",), "/gone": ("group ml rwx",)})
    assert (expected(want(), Owned()), asked_by(want()).rights) == ([], ())
    assert expected(want(), before) == [(["group ml rwx", "default group ml rwx"], "excludes")]
    assert asked_by(want(), before).rights == ("/scratch",)


def test_rights_that_are_waived_are_left_as_they_are() -> None:
    (mount,) = leave_alone(want(*ML), [ADDRESS]).pool.mounts
    assert mount.rights == ()
