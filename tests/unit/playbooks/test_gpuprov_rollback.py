"""What a transaction keeps before it begins, and what it does without: over archives of small files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import gpuprov_rollback
from ansible.module_utils.gpuprov_apt import Installed, Step
from ansible.module_utils.gpuprov_archives import Archives
from ansible.module_utils.gpuprov_rollback import Keeper, Refused
from ansible.module_utils.gpuprov_root import AptRoot
from ansible.module_utils.gpuprov_runs import Runs

STEPS = (Step("driver", "1", "2"), Step("tool", "1", None), Step("new", None, "1"), Step("same", "1", "1"))


class Host:
    """Answers apt as a host whose sources have some packages; `fetched` is what a download brings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.offered: list[str] = []
        self.fetched: list[str] = []
        self.calls: list[str] = []

    def __call__(self, argv: list[str]) -> tuple[int, str, str]:
        self.calls.append(argv[0])
        if argv[0] == "apt-cache":
            rows = [" | ".join([*text.split(), "http://x ./ Packages"]) for text in self.offered]
            return 0, "".join(f"   {row}\n" for row in rows) + " driver | 1 | http://x ./ Sources\n", ""
        if argv[0] == "/bin/sh":
            for text in self.fetched:
                (Path(argv[3]) / f"{text.replace(' ', '_')}_amd64.deb").write_text(text)
        return 0, "", ""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(gpuprov_rollback, "Archives", lambda run: Archives(run, tmp_path / "rollback"))
    monkeypatch.setattr(gpuprov_rollback, "Runs", lambda: Runs(tmp_path / "runs"))
    return Host(tmp_path)


@pytest.fixture
def keeper(host: Host) -> Callable[..., Keeper]:
    def make(**wanted: Any) -> Keeper:
        full = {"run": "r2", "want": "B", "documents": [], "found": "", "required": True, "restore": "", **wanted}
        return Keeper(full, host, AptRoot(root=host.folder / "apt"))

    return make


def put(keeper: Keeper, folder: Path, *packages: str) -> None:
    """Have archives kept by an earlier transaction."""
    for text in packages:
        path = folder / f"{text.replace(' ', '_')}_amd64.deb"
        path.write_text(text)
        keeper.archives.take(path)
    keeper.archives.save()


def test_what_is_kept_what_a_source_has_and_what_is_lost(host: Host, keeper: Callable[..., Keeper]) -> None:
    made = keeper()
    put(made, host.folder, "driver 1")
    host.offered = ["tool 1", "tool 2"]
    assert made.look(STEPS) == {"kept": ["driver 1"], "fetch": ["tool 1"], "lost": [], "bytes": 8}
    host.offered = ["tool 2"]
    assert made.look(STEPS)["lost"] == ["tool 1"]
    assert "/bin/sh" not in host.calls, "a look fetches nothing"


def test_the_old_packages_are_fetched_before_anything_is_changed(host: Host, keeper: Callable[..., Keeper]) -> None:
    host.offered = host.fetched = ["driver 1", "tool 1"]
    keeper().secure(STEPS)
    kept = Archives(host, host.folder / "rollback")
    assert kept.find("driver", "1") is not None
    assert kept.find("tool", "1") is not None
    assert not (host.folder / "rollback" / "partial").exists()
    host.calls.clear()
    keeper().secure(STEPS)
    assert host.calls == [], "what is kept needs no source"


@pytest.mark.parametrize("fetched", [[], ["driver 1"]])
def test_a_package_that_no_source_has_or_gives_refuses_unless_that_was_agreed_to(
    host: Host, keeper: Callable[..., Keeper], fetched: list[str]
) -> None:
    host.offered, host.fetched = ["driver 1", *(["tool 1"] if fetched else [])], fetched
    with pytest.raises(Refused, match="tool 1") as caught:
        keeper().secure(STEPS)
    assert caught.value.reason == "rollback"
    keeper(required=False).secure(STEPS)
    kept = Archives(host, host.folder / "rollback").find("driver", "1")
    assert (kept is not None) is bool(fetched), "what can be had is kept all the same"


def test_a_file_that_is_not_the_one_of_the_old_lock_is_lost(host: Host, keeper: Callable[..., Keeper]) -> None:
    packages = [{"name": "tool", "version": "1", "sha256": "0" * 64}]
    text = json.dumps({"pool": {"packages": packages}})
    Runs(host.folder / "runs").begin("r1", "A", {"want.json": text}, complete="", found="")
    host.offered = host.fetched = ["driver 1", "tool 1"]
    with pytest.raises(Refused, match="tool 1"):
        keeper().secure(STEPS)


def test_new_archives_are_kept_as_soon_as_they_are_fetched(host: Host, keeper: Callable[..., Keeper]) -> None:
    archives = host.folder / "archives"
    archives.mkdir()
    for text in ("driver 2", "new 1", "dependency 7"):
        (archives / f"{text.replace(' ', '_')}_amd64.deb").write_text(text)
    keeper().keep(STEPS, archives)
    kept = Archives(host, host.folder / "rollback")
    assert [kept.find(*pair.split()) is not None for pair in ("driver 2", "new 1", "dependency 7")] == [
        True,
        True,
        False,
    ]
    assert (archives / "driver_2_amd64.deb").exists(), "apt needs it yet"


def test_on_the_way_back_the_kept_archives_are_the_source(host: Host, keeper: Callable[..., Keeper]) -> None:
    made = keeper(restore="r1")
    put(made, host.folder, "driver 1")
    line, missing = made.local({"driver": "1", "tool": "1"})
    assert (line, missing) == (f"deb [trusted=yes] file:{host.folder}/rollback ./\n", ["tool"])
    made.secure(STEPS)
    assert "/bin/sh" not in host.calls, "nothing is asked for on the way back"
    assert keeper().local({"driver": "1"}) == ("", [])


def test_what_dpkg_asks_to_be_installed_again_is_unpacked_from_the_kept_archive(
    host: Host, keeper: Callable[..., Keeper]
) -> None:
    made = keeper(restore="r1")
    put(made, host.folder, "driver 1", "driver 2", "tool 1")
    status = {
        "driver": Installed("2", held=False, state="half-installed", broken=True),
        "tool": Installed("1", held=False, state="half-configured", broken=True),
        "whole": Installed("1", held=False, state="installed", broken=False),
        "foreign": Installed("1", held=False, state="half-installed", broken=True),
    }
    archives = host.folder / "rollback" / "archives"
    files = [str(archives / name) for name in ("driver_1_amd64.deb", "tool_1_amd64.deb")]
    assert made.unpack_again({"driver": "1"}, status) == [["dpkg", "--unpack", "--force-confold", *files]]
    assert made.unpack_again({}, {"whole": status["whole"], "foreign": status["foreign"]}) == []
    assert Keeper({}, host, AptRoot(root=host.folder / "apt")).unpack_again({}, status) == []


def test_where_nothing_is_asked_for_nothing_is_kept(host: Host) -> None:
    made = Keeper({}, host, AptRoot(root=host.folder / "apt"))
    made.secure(STEPS)
    made.begin("")
    made.finish()
    assert made.look(STEPS) == {}
    assert list(host.folder.iterdir()) == []


def test_when_all_is_done_what_no_rollback_needs_goes(host: Host, keeper: Callable[..., Keeper]) -> None:
    for number, run in enumerate(("r0", "r1"), start=1):
        text = json.dumps({"pool": {"packages": [{"name": "driver", "version": str(number)}]}})
        Runs(host.folder / "runs").begin(run, run, {"want.json": text}, complete="", found="")
    text = json.dumps({"pool": {"packages": [{"name": "driver", "version": "3"}]}})
    made = keeper(documents=[{"name": "want.json", "text": text}])
    put(made, host.folder, "driver 1", "driver 2", "driver 3")
    made.begin("r1")
    made.finish()
    kept = Archives(host, host.folder / "rollback")
    assert [kept.find("driver", version) is not None for version in "123"] == [False, True, True]
