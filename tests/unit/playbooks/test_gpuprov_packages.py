"""The transaction over a fake host: an apt and a dpkg that answer from a table."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SHA = "a" * 64
COMES = """The following NEW packages will be installed:
  tree
0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.
Need to get 10 kB of archives.
'http://x/t' tree_2_amd64.deb 9999 SHA256:{sha256}
"""
GOES = """The following packages will be REMOVED:
  tree
0 upgraded, 0 newly installed, 1 to remove and 0 not upgraded.
"""


class Host:
    """Answers programs as a host with one package to come; a started unit ends with the next of `ends`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installed = False
        self.held = False
        self.sha256 = SHA
        self.ends: list[tuple[int, str]] = [(0, "")]
        self.after_refresh: str | None = None
        self.calls: list[str] = []
        self.answer: str | None = None
        """What apt announces; that the package comes, when left out."""

    def __call__(self, argv: list[str], data: str | None = None, **_: Any) -> tuple[int, str, str]:
        words = " ".join(argv)
        kind = "print-uris" if "--print-uris" in argv else " ".join(argv[:2])
        self.calls.append(kind)
        if argv[:2] == ["dpkg", "--print-architecture"]:
            return 0, "amd64\n", ""
        if argv[0] == "dpkg-query":
            want = "hold" if self.held else "install"
            return 0, f"tree\tamd64\t2\t{want}\tinstalled\tok\n" if self.installed else "", ""
        if kind == "print-uris":
            return 0, self.answer or COMES.format(sha256=self.sha256), ""
        if words.startswith("apt-get update"):
            self.sha256 = self.after_refresh or self.sha256
        if argv[0] == "systemd-run":
            status, log = self.ends.pop(0)
            place = Path(argv[-1]).parent
            with (place / "log").open("a") as stream:
                stream.write(log)
            (place / "result.json").write_text(json.dumps({"status": status}))
            self.installed = status == 0
        if argv[:2] == ["dpkg", "--set-selections"]:
            self.held = "tree hold" in (data or "")
        return 0, "", ""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def apply(load: Callable[[str], ModuleType], host: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    module = load("gpuprov_packages")
    folder = host.folder
    monkeypatch.setattr(module, "INSTALLED", folder / "installed.json")
    monkeypatch.setattr(module, "OWNED", folder / "owned.json")
    monkeypatch.setattr(module, "AptRoot", lambda: root(folder / "apt", folder / "etc", folder / "lists"))
    monkeypatch.setattr(module, "Units", lambda run: units(run, folder / "transactions"))
    monkeypatch.setattr(module, "take_turn", lambda _timeout: object())
    monkeypatch.setattr(module, "wait_for_lock", lambda _timeout: None)
    root, units = _classes()

    def run(*, check: bool = False, **params: Any) -> dict[str, Any]:
        row = {"name": "tree", "version": "2", "arch": "amd64", "sha256": SHA, "needed": False}
        given: dict[str, Any] = {
            "install": [row],
            "hold": ["tree"],
            "remove": [],
            "release": [],
            "sources": [],
            "pins": "",
            "allow_downgrades": True,
            "lists_refresh": True,
            "lock_timeout": 1,
            "timeout": 5,
            "rollback": {},
            "take_over": [],
            "uninstall": "",
            **params,
        }
        fake = SimpleNamespace(params=given, run_command=host, check_mode=check)
        try:
            return dict(module.Transaction(fake).apply())
        except module.Failed as failure:
            return {"reason": failure.reason, "text": failure.text}

    return run


def _classes() -> tuple[Any, Any]:
    from ansible.module_utils.gpuprov_root import AptRoot  # noqa: PLC0415 - after the path is set
    from ansible.module_utils.gpuprov_unit import Units  # noqa: PLC0415

    return AptRoot, Units


def test_a_package_comes_is_held_and_is_remembered_as_brought(apply: Callable[..., Any], host: Host) -> None:
    done = apply()
    assert done["packages"] == [{"name": "tree", "from": None, "to": "2"}]
    assert host.held
    assert json.loads((host.folder / "installed.json").read_text()) == ["tree"]
    assert json.loads((host.folder / "owned.json").read_text())["packages"] == {"tree": "2"}
    assert host.calls.index("print-uris") < host.calls.index(next(c for c in host.calls if c.startswith("systemd-run")))
    assert apply()["changed"] is False


@pytest.mark.parametrize("check", [False, True])
def test_another_file_under_the_same_version_is_refused_and_the_host_untouched(
    apply: Callable[..., Any],
    host: Host,
    check: bool,  # noqa: FBT001 - a case
) -> None:
    host.sha256 = "b" * 64
    done = apply(check=check)
    assert done["reason"] == "digest"
    assert "tree 2" in done["text"]
    assert SHA in done["text"]
    assert not [call for call in host.calls if call.startswith(("systemd-run", "dpkg --set"))]
    assert {path.name for path in host.folder.iterdir()} == (set() if check else {"apt"})


def test_after_fresh_lists_nothing_runs_that_was_not_judged_again(apply: Callable[..., Any], host: Host) -> None:
    host.ends = [(100, "E: Failed to fetch http://x/t  404  Not Found\n"), (0, "")]
    assert apply()["changed"] is True
    runs = [call for call in host.calls if call == "print-uris" or call.startswith("systemd-run")]
    assert [call.split()[0] for call in runs] == ["print-uris", "systemd-run"] * 2


def test_fresh_lists_that_lead_to_another_file_end_the_run(apply: Callable[..., Any], host: Host) -> None:
    host.ends = [(100, "E: Failed to fetch http://x/t  404  Not Found\n"), (0, "")]
    host.after_refresh = "b" * 64
    assert apply()["reason"] == "digest"
    assert len([call for call in host.calls if call.startswith("systemd-run")]) == 1


def test_packages_that_lose_their_hold_are_named(apply: Callable[..., Any], host: Host) -> None:
    host.installed = host.held = True
    done = apply(install=[], hold=[], release=["tree"])
    assert done["notes"] == ["installed as before, no longer held: tree"]
    assert not host.held


@pytest.mark.parametrize("name", ["owned.json", "installed.json"])
def test_a_broken_record_ends_the_run_before_anything_is_done(apply: Callable[..., Any], host: Host, name: str) -> None:
    (host.folder / name).write_text("")
    with pytest.raises(ValueError, match=f"{name}: the record is empty"):
        apply()
    assert host.calls == ["dpkg --print-architecture"]


def test_a_look_leaves_nothing_behind_and_says_what_would_be_fetched(apply: Callable[..., Any], host: Host) -> None:
    found = apply(check=True)
    assert found["packages"] == [{"name": "tree", "from": None, "to": "2"}]
    assert (found["download"], found["growth"]) == (10_000, 0)
    assert list(host.folder.iterdir()) == []


def test_what_somebody_else_installed_goes_only_when_it_is_taken_over(apply: Callable[..., Any], host: Host) -> None:
    host.installed = True
    stays = apply(install=[], hold=[], remove=["tree"], check=True)
    assert stays["kept"] == ["tree"]
    host.answer = GOES
    goes = apply(install=[], hold=[], remove=["tree"], take_over=["tree"], check=True)
    assert goes["packages"] == [{"name": "tree", "from": "2", "to": None}]
    assert goes["kept"] == []


def test_an_uninstaller_is_in_the_unit_before_apt_and_is_what_is_blamed(apply: Callable[..., Any], host: Host) -> None:
    program = host.folder / "nvidia-uninstall"
    program.write_text("")
    host.ends = [(3, f"+ {program} --silent\n")]
    failed = apply(uninstall=str(program))
    assert failed["reason"] == "apt"
    assert (
        failed["text"]
        == f"NVIDIA's uninstaller {program} ended with status 3; see /var/log/nvidia-uninstall.log on the host"
    )
    (place,) = (host.folder / "transactions").iterdir()
    lines = [line for line in (place / "run.sh").read_text().splitlines() if line.startswith("echo '+ ")]
    kinds = [
        next(k for k in ("--download-only", "--silent", "+ test", "clean", "install") if k in line) for line in lines
    ]
    assert kinds == ["--download-only", "--silent", "+ test", "install", "clean"]


@pytest.mark.parametrize("restore", ["", "r1"])
def test_a_repair_goes_down_on_the_way_back_alone(
    apply: Callable[..., Any], host: Host, monkeypatch: pytest.MonkeyPatch, restore: str
) -> None:
    apply()  # it sets the module's places
    module = sys.modules["play_gpuprov_packages"]
    monkeypatch.setattr(module, "Keeper", lambda *_: SimpleNamespace(restore=restore))
    given = {"install": [], "remove": [], "hold": [], "release": [], "take_over": [], "rollback": {}, "lock_timeout": 1}
    transaction = module.Transaction(SimpleNamespace(params=given, run_command=host, check_mode=False))
    assert ("--allow-downgrades" in transaction.fix("--print-uris")) is bool(restore)
