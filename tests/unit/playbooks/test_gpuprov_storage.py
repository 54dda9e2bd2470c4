"""gpuprov_storage with the programs of a host faked: what it refuses before it touches any disk, and what it runs."""

import errno
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class FakeModule:
    """Answers for blkid, mkfs and systemctl by device, and remembers what was run."""

    def __init__(
        self, mounts: list[dict[str, Any]], blkid: dict[str, tuple[int, str]], *, check: bool, record: str = ""
    ) -> None:
        self.params = {"mounts": mounts, "record": record}
        self.check_mode = check
        self.blkid = blkid
        self.calls: list[str] = []

    def run_command(self, words: list[str], **_: Any) -> tuple[int, str, str]:
        if words[0] == "blkid":
            code, out = self.blkid[Path(words[-1]).name]
            return code, out, ""
        self.calls.append(" ".join(words))
        return 0, "", ""


@pytest.fixture
def disks(load: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the module over files that stand for disks; what they hold is what blkid is told to say."""
    play = load("gpuprov_storage")
    monkeypatch.setattr(play.stat, "S_ISBLK", stat.S_ISREG)

    def run(blkid: dict[str, tuple[int, str]], *, check: bool = False, mounted: str = "", first: bytes = b"") -> Any:
        rows = []
        for name in blkid:
            (tmp_path / name).write_bytes(first + bytes(8))
            place = str(tmp_path / "places" / name)
            row = {"device": str(tmp_path / name), "place": place, "filesystem": "ext4", "unit": f"{name}.mount"}
            rows.append({**row, "shared": False, "rights": None})
        module = FakeModule(rows, blkid, check=check)
        storage = play.Storage(module)
        storage.sources = play.mounts_of(mounted.replace("TMP", str(tmp_path)))
        storage.mounted = [(os.path.realpath(device), place) for device, place in storage.sources]
        try:
            storage.apply()
        except play.Failed as failure:
            return module.calls, failure
        return module.calls, storage.changes

    return run


EMPTY, EXT4 = (2, ""), (0, "TYPE=ext4\nUUID=x\n")


def test_an_empty_disk_is_formatted_and_mounted_by_its_unit(disks: Callable[..., Any], tmp_path: Path) -> None:
    calls, changes = disks({"a": EMPTY})
    assert calls == [f"mkfs.ext4 {tmp_path / 'a'}", "systemctl daemon-reload", "systemctl enable --now a.mount"]
    assert len(changes) == 2
    assert (tmp_path / "places" / "a").is_dir()


def test_a_disk_with_its_file_system_is_only_mounted_and_one_in_use_left_alone(disks: Callable[..., Any]) -> None:
    calls, changes = disks({"a": EXT4})
    assert calls == ["systemctl daemon-reload", "systemctl enable --now a.mount"]
    assert len(changes) == 1
    assert disks({"a": EXT4}, mounted="TMP/a TMP/places/a ext4 rw 0 0\n") == ([], [])


def test_check_mode_says_the_same_and_runs_nothing(disks: Callable[..., Any], tmp_path: Path) -> None:
    calls, changes = disks({"a": EMPTY}, check=True)
    assert (calls, len(changes)) == ([], 2)
    assert not (tmp_path / "places").exists()


@pytest.mark.parametrize(
    ("second", "options", "words"),
    [
        ((0, "TYPE=xfs\n"), {}, "holds xfs"),
        ((0, "PTTYPE=gpt\n"), {}, "holds partitions (gpt)"),
        ((0, "TYPE=LVM2_member\n"), {}, "LVM2_member"),
        ((8, "ambivalent result"), {}, "blkid ended with status 8"),
        (EMPTY, {"first": b"raw data"}, "data without a file system"),
        (EXT4, {"mounted": "/dev/other TMP/places/b ext4 rw 0 0\n"}, "is mounted there"),
    ],
)
def test_one_disk_that_cannot_be_used_keeps_all_untouched(
    disks: Callable[..., Any], second: tuple[int, str], options: dict[str, Any], words: str
) -> None:
    calls, failure = disks({"a": EMPTY, "b": second}, **options)
    assert calls == []
    assert words in failure.text


def test_a_place_with_files_is_not_hidden(disks: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "places" / "a").mkdir(parents=True)
    (tmp_path / "places" / "a" / "mine").touch()
    calls, failure = disks({"a": EMPTY})
    assert calls == []
    assert "not an empty folder" in failure.text
    assert failure.path == str(tmp_path / "places" / "a")


def test_a_device_that_is_not_there_is_named(load: Callable[[str], ModuleType]) -> None:
    play = load("gpuprov_storage")
    row = {
        "device": "/dev/gpuprov-no-such",
        "place": "/x",
        "filesystem": "ext4",
        "unit": "x.mount",
        "shared": False,
        "rights": None,
    }
    with pytest.raises(play.Failed, match="no such device"):
        play.Storage(FakeModule([row], {}, check=False)).apply()


@pytest.fixture
def share(load: Callable[[str], ModuleType], tmp_path: Path) -> Callable[..., Any]:
    """Runs the module over one share, whose unit is ours or not."""
    play = load("gpuprov_storage")
    place = str(tmp_path / "data")

    def run(*mounted: str, ours: bool = False) -> Any:
        record = tmp_path / "owned.json"
        record.write_text('{"files": {"/etc/systemd/system/data.mount": "0"}}' if ours else "{}")
        row = {
            "device": "nfs:/srv",
            "place": place,
            "filesystem": "nfs",
            "unit": "data.mount",
            "shared": True,
            "rights": None,
        }
        module = FakeModule([row], {}, check=False, record=str(record))
        storage = play.Storage(module)
        storage.sources = [(source, place) for source in mounted]
        try:
            storage.apply()
        except play.Failed as failure:
            return module.calls, failure.text
        return module.calls, storage.changes

    return run


START = ["systemctl daemon-reload", "systemctl enable --now data.mount"]
ANEW = ["systemctl daemon-reload", "systemctl enable data.mount", "systemctl restart data.mount"]


def test_a_share_is_mounted_and_one_that_is_there_left_alone(share: Callable[..., Any]) -> None:
    calls, changes = share()
    assert (calls, len(changes)) == (START, 1)
    assert share("nfs:/srv") == ([], [])


def test_only_what_our_own_unit_mounted_gives_way(share: Callable[..., Any]) -> None:
    calls, text = share("old:/srv")
    assert calls == []
    assert "old:/srv is mounted there" in text
    assert share("old:/srv", ours=True)[0] == ANEW
    # What covers the share is seen by programs, and the share is not.
    assert share("nfs:/srv", "other:/x", ours=True)[0] == ANEW


def test_a_share_hides_no_files(share: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").touch()
    calls, text = share()
    assert calls == []
    assert "not an empty folder" in text


@pytest.fixture
def rights(load: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Gives rights on a folder, whose lists of access control are kept here: a file system of a test may have none."""
    play = load("gpuprov_storage")
    lists: dict[str, bytes] = {}
    done: list[str] = []
    numbers = {"ml": 2001, "ops": 2000}
    monkeypatch.setattr(play.grp, "getgrnam", lambda name: SimpleNamespace(gr_gid=numbers[name]))
    monkeypatch.setattr(play.os, "chown", lambda _place, uid, gid: done.append(f"chown {uid}:{gid}"))
    monkeypatch.setattr(play.os, "setxattr", lambda _place, kind, value: lists.__setitem__(kind, value))
    monkeypatch.setattr(play.os, "removexattr", lambda _place, kind: lists.pop(kind))

    def getxattr(place: str, kind: str) -> bytes:
        if kind not in lists:
            raise OSError(errno.ENODATA, "No data available")
        return lists[kind]

    monkeypatch.setattr(play.os, "getxattr", getxattr)

    def run(entries: list[str], *, check: bool = False) -> Any:
        storage = play.Storage(FakeModule([], {}, check=check))
        done.clear()
        try:
            storage.give({"place": str(tmp_path), "rights": entries})
        except play.Failed as failure:
            return failure.text
        return storage.changes, dict(lists), [*done]

    return run


def test_groups_get_their_rights_once_and_nobody_else_has_any(rights: Callable[..., Any]) -> None:
    changes, lists, done = rights(["group ml rwx", "group ops r-x"])
    assert (len(changes), done) == (1, ["chown 0:0"])
    access = lists["system.posix_acl_access"]
    assert lists["system.posix_acl_default"] == access
    # The kernel takes entries by tag, and of one tag by number.
    assert list(struct.iter_unpack("<HHI", access[4:])) == [
        (1, 7, 0xFFFFFFFF),
        (4, 0, 0xFFFFFFFF),
        (8, 5, 2000),
        (8, 7, 2001),
        (16, 7, 0xFFFFFFFF),
        (32, 0, 0xFFFFFFFF),
    ]
    assert rights(["group ml rwx", "group ops r-x"])[0] == []


def test_rights_are_taken_back_as_a_whole(rights: Callable[..., Any], tmp_path: Path) -> None:
    rights(["group ml rwx"])
    tmp_path.chmod(0o770)
    changes, lists, _ = rights([])
    assert (len(changes), lists, stat.S_IMODE(tmp_path.stat().st_mode)) == (1, {}, 0o755)
    assert rights([])[0] == []


def test_check_mode_gives_nothing_and_a_group_that_is_not_there_is_named(rights: Callable[..., Any]) -> None:
    changes, lists, done = rights(["group ml rwx"], check=True)
    assert (len(changes), lists, done) == (1, {}, [])
    assert len(rights(["group other rwx"], check=True)[0]) == 1
    assert rights(["group other rwx"]) == "there is no group other"
