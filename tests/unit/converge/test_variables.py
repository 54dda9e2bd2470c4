import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from framework_builders import with_frameworks
from host_builders import VERSIONS, make_want

from gpuprov.converge.types import RunDocuments
from gpuprov.converge.variables import document_variables, host_variables
from gpuprov.plan.removal import Removal
from gpuprov.want.empty import empty_want
from gpuprov.want.files import DAEMON_PATH, NOUVEAU_PATH, PINS_PATH
from gpuprov.want.types import FileWant, HostWant

WANT = make_want()
WHEN = "2026-11-30T00:00:00Z"
ROLES = Path(__file__).parents[3] / "playbooks" / "roles"


def variables(want: HostWant = WANT, removal: Removal = Removal(), when: str = WHEN) -> dict[str, Any]:  # noqa: B008
    return host_variables(want, removal, when=when)


def paths(files: list[dict[str, Any]]) -> list[str]:
    return [file["path"] for file in files]


def test_every_variable_is_one_that_a_role_declares() -> None:
    declared = set()
    for path in ROLES.glob("*/meta/argument_specs.yml"):
        declared |= set(yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"])
    shared = document_variables(RunDocuments(spec="s", lock="l"))
    assert set(variables()) | set(shared) <= declared
    # What a role decides for itself is time limits only; the others are what the controller itself brings or knows.
    of_the_run = {"gpuprov_frameworks_uv", "gpuprov_packages_rollback"}
    timeouts = {"gpuprov_packages_lock_timeout", "gpuprov_packages_timeout"}
    assert declared - set(variables()) - set(shared) == timeouts | of_the_run


def test_the_environment_of_frameworks_is_told_whole_and_its_removal() -> None:
    found = variables(with_frameworks(WANT))
    assert found["gpuprov_frameworks_environment"] == with_frameworks(WANT).pool.frameworks.environment  # type: ignore[union-attr]
    assert found["gpuprov_frameworks_indexes"] == {"cu130": "http://index.example/cu130"}
    assert [row["name"] for row in found["gpuprov_frameworks_packages"]] == ["numpy", "torch"]
    assert found["gpuprov_frameworks_remove"] is False
    assert json.loads(found["gpuprov_record_files"][-1]["text"])["frameworks"]
    gone = variables(removal=Removal(frameworks=True))
    assert (gone["gpuprov_frameworks_packages"], gone["gpuprov_frameworks_remove"]) == ([], True)


def test_every_package_of_the_want_is_installed_at_its_version_and_held() -> None:
    found = variables()
    assert {row["name"]: row["version"] for row in found["gpuprov_packages_install"]} == VERSIONS
    files = {p.name: (p.arch, p.sha256) for p in WANT.pool.packages}
    assert {row["name"]: (row["arch"], row["sha256"]) for row in found["gpuprov_packages_install"]} == files
    assert sorted(found["gpuprov_packages_hold"]) == sorted(VERSIONS)


def test_every_file_of_the_want_is_written_by_exactly_one_role() -> None:
    want = replace(WANT, pool=replace(WANT.pool, files=(*WANT.pool.files, FileWant(path="/etc/x", text="t"))))
    found = variables(want)
    by_role = {role: paths(found[f"gpuprov_{role}_files"]) for role in ("sources", "modules", "container", "files")}
    written = [path for group in by_role.values() for path in group]
    sources = [path for source in want.pool.sources for path in (source.key_path, source.path)]
    assert sorted(written) == sorted([*(file.path for file in want.pool.files), *sources])
    assert NOUVEAU_PATH in by_role["modules"]
    assert PINS_PATH in by_role["sources"]
    assert DAEMON_PATH in by_role["container"]
    assert "/etc/x" in by_role["files"]


def test_keys_are_written_before_the_sources_that_name_them() -> None:
    found = paths(variables()["gpuprov_sources_files"])
    for source in WANT.pool.sources:
        assert found.index(source.key_path) < found.index(source.path)


def test_the_engine_s_configuration_is_checked_by_the_engine() -> None:
    daemon = next(file for file in variables()["gpuprov_container_files"] if file["path"] == DAEMON_PATH)
    assert (daemon["merge"], daemon["validate"]) == ("json", "dockerd --validate --config-file=%s")
    assert daemon["restarts"] == ["docker"]


def test_removals_go_to_the_role_of_their_concern() -> None:
    gone = Removal(
        packages=("htop",), files=("/etc/motd", NOUVEAU_PATH, PINS_PATH), sources=("old",), release=("docker.io",)
    )
    found = variables(removal=gone)
    assert found["gpuprov_packages_remove"] == ["htop"]
    assert found["gpuprov_packages_release"] == ["docker.io"]
    assert found["gpuprov_files_delete"] == ["/etc/motd"]
    assert found["gpuprov_modules_delete"] == [NOUVEAU_PATH]
    assert found["gpuprov_sources_delete"] == [
        "/etc/apt/keyrings/gpuprov-old.asc",
        PINS_PATH,
        "/etc/apt/sources.list.d/gpuprov-old.sources",
    ]


def test_a_file_that_loses_our_keys_is_checked_and_read_anew_without_a_restart() -> None:
    assert variables()["gpuprov_container_take_back"] == []
    (row,) = variables(removal=Removal(take_back=(DAEMON_PATH,)))["gpuprov_container_take_back"]
    assert row == {"path": DAEMON_PATH, "validate": "dockerd --validate --config-file=%s", "reload": ["docker"]}


def test_containerd_is_given_its_runtime_or_loses_it_or_is_left_alone() -> None:
    wanted = replace(WANT, pool=replace(WANT.pool, containerd=True))
    found = [
        variables(want, removal)["gpuprov_container_containerd"]
        for want, removal in ((WANT, Removal()), (wanted, Removal()), (WANT, Removal(containerd=True)))
    ]
    runtime = {
        "runtime": "nvidia",
        "type": "io.containerd.runc.v2",
        "program": "/usr/bin/nvidia-container-runtime",
    }
    assert found == [{}, runtime, {"runtime": ""}]


def test_what_a_lost_run_left_is_told_to_the_role_of_its_concern() -> None:
    assert variables()["gpuprov_modules_pending"] is False
    assert variables(removal=Removal(pending=("initramfs",)))["gpuprov_modules_pending"] is True


def test_units_that_the_plan_restarts_are_told() -> None:
    assert variables(removal=Removal(restart=("docker",)))["gpuprov_services_restart"] == ["docker"]


def test_the_record_owns_every_file_but_the_shared_one() -> None:
    files = {file["path"]: file for file in variables()["gpuprov_record_files"]}
    owned = json.loads(files["/var/lib/gpuprov/owned.json"]["text"])
    assert owned["packages"] == VERSIONS
    assert DAEMON_PATH not in owned["files"]
    pins = next(file for file in WANT.pool.files if file.path == PINS_PATH)
    assert owned["files"][PINS_PATH] == hashlib.sha256(pins.text.encode()).hexdigest()
    assert owned["sources"] == ["nvidia"]
    assert owned["want"] == WANT.digest
    # What the package step wrote there stays; it is written here where that step had nothing to do.
    brought = files["/var/lib/gpuprov/installed.json"]
    assert (brought["text"], brought["keep"]) == ("[]\n", True)
    # The record is last: what it says is true only when everything before it was written.
    assert list(files)[-1] == "/var/lib/gpuprov/owned.json"


def test_the_moment_alone_changes_nothing_but_itself() -> None:
    one, two = variables(when="2026-11-30T00:00:00Z"), variables(when="2026-12-01T00:00:00Z")
    assert one["gpuprov_record_files"][-1]["volatile"] == ["when"]
    texts = [json.loads(v["gpuprov_record_files"][-1].pop("text")) for v in (one, two)]
    assert [text.pop("when") for text in texts] == ["2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"]
    assert texts[0] == texts[1]
    assert one == two


def test_a_hand_back_takes_the_record_away_and_leaves_packages() -> None:
    empty = HostWant(host="h", pool=empty_want("train", "onprem", "debian-12", "amd64"), digest="d")
    found = variables(empty, Removal(release=("libcuda1",), files=(PINS_PATH,), sources=("nvidia",)))
    assert found["gpuprov_packages_install"] == found["gpuprov_packages_remove"] == []
    assert found["gpuprov_packages_release"] == ["libcuda1"]
    assert found["gpuprov_record_files"] == found["gpuprov_record_documents"] == []
    assert "/var/lib/gpuprov/owned.json" in found["gpuprov_record_delete"]
    assert found["gpuprov_services_units"] == []
    gone = {*found["gpuprov_record_delete"], *found["gpuprov_record_delete_folders"]}
    everything = {
        "want.json",
        "spec.yaml",
        "lock.json",
        "owned.json",
        "installed.json",
        "merged.json",
        "access.json",
        "tuning.json",
        "proven",
        "transactions",
    }
    assert gone == {f"/var/lib/gpuprov/{name}" for name in (*everything, "backups", "rollback", "runs")} | {
        "/var/cache/gpuprov"
    }


def test_what_is_taken_over_is_told_beside_what_goes() -> None:
    found = variables(removal=Removal(packages=("a", "b"), take_over=("b",)))
    assert found["gpuprov_packages_remove"] == ["a", "b"]
    assert found["gpuprov_packages_take_over"] == ["b"]
