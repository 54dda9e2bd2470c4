"""After a lock is installed, a simulated upgrade moves no package of it: the pins that gpuprov writes hold (A02)."""

from pathlib import Path
from typing import Any

import pytest
from differential import difference
from lock_cases import lock_of
from private_apt import make_apt
from stanza_rows import publish, stanza_text

from gpuprov.lock.types import Lock
from gpuprov.want.files import pins_file
from gpuprov.want.types import PackageWant

OLD, NEW = "535.216.01-0ubuntu0.22.04.1", "535.230.02-0ubuntu0.22.04.1"


def _set(version: str) -> list[dict[str, Any]]:
    return [
        {"is": f"nvidia-driver-535 {version}", "depends": f"libnvidia-gl-535 (= {version}), libc6"},
        {"is": f"libnvidia-gl-535 {version}", "depends": "libnvidia-common-535"},
        {"is": f"libnvidia-common-535 {version}"},
    ]


NOW = [*_set(OLD), {"is": "libc6 2.35-1"}, {"is": "htop 3.0-1", "depends": "libc6"}, {"is": "other 1"}]
LATER = [*_set(NEW), {"is": "libc6 2.35-2"}, {"is": "htop 3.1-1", "depends": "libc6 (>= 2.35-2)"}, {"is": "other 2"}]
CASE = {
    "index": {"os": NOW},
    "requests": ["nvidia-driver-535 535.216.*", "htop"],
    "equal": [{"label": "driver", "driver": True, "names": ["nvidia-driver-535"]}],
}

pytestmark = [pytest.mark.network, pytest.mark.timeout(120)]


def test_an_upgrade_moves_what_is_not_locked_and_nothing_else(tmp_path: Path) -> None:
    lock, _, _ = lock_of(CASE)
    assert isinstance(lock, Lock), lock
    rows = lock.pools["train"].packages
    apt = make_apt(tmp_path / "apt", publish({"os": [*NOW, *LATER]}, tmp_path / "sources"))
    installed = "\n".join(stanza_text(row).replace("\n", "\nStatus: install ok installed\n", 1) for row in NOW)
    (apt.root / "status").write_text(installed + "\n", encoding="utf-8")
    everything = {name: version for name, _, version in (row["is"].partition(" ") for row in LATER)}
    assert difference(apt.simulate("dist-upgrade"), everything) == "", "without pins all would move"
    wants = [PackageWant(name=r.name, version=r.version, arch=r.arch, source=r.source, sha256=r.sha256) for r in rows]
    (apt.root / "preferences").write_text(pins_file(wants).text, encoding="utf-8")
    for command in ("upgrade", "dist-upgrade"):
        assert apt.simulate(command) == {"libc6": "2.35-2", "other": "2"}
