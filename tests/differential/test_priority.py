"""A source's priority means the same in a lock and, by the pin that gpuprov writes, to apt on a host."""

from pathlib import Path

import pytest
from differential import difference, our_plan
from private_apt import make_apt
from stanza_rows import Rows, index_of, publish

from gpuprov.lock.types import LockedSource
from gpuprov.want.files import pins_file
from gpuprov.want.types import PackageWant

ROWS: Rows = {
    "os": [{"is": "app 1", "depends": "lib"}, {"is": "lib 1"}, {"is": "held 1"}],
    "site": [{"is": "app 2", "depends": "lib"}, {"is": "lib 2"}, {"is": "held 2"}],
}

pytestmark = [pytest.mark.network, pytest.mark.timeout(120)]


@pytest.mark.parametrize(
    ("priority", "expected"),
    [(None, {"app": "2", "lib": "2"}), (100, {"app": "1", "lib": "1"}), (990, {"app": "2", "lib": "2"})],
)
def test_what_is_chosen_by_priority_is_what_apt_chooses(
    priority: int | None, expected: dict[str, str], tmp_path: Path
) -> None:
    site = [row | ({} if priority is None else {"pin": priority}) for row in map(dict, ROWS["site"])]
    assert our_plan(index_of({"os": ROWS["os"], "site": site}), ["app"]) == expected
    apt = make_apt(tmp_path / "apt", publish(ROWS, tmp_path / "sources"))
    locked = LockedSource(
        name="site",
        url="",
        suite="./",
        components=(),
        fingerprints=(),
        on_host=True,
        priority=priority,
        selector="a=site",
    )
    # A package that is pinned by name keeps its version, whatever its source's priority.
    held = PackageWant(name="held", version="1", arch="amd64", source="os", sha256="")
    (apt.root / "preferences").write_text(pins_file([held], [locked]).text, encoding="utf-8")
    assert difference(expected, apt.plan(["app"])) == ""
    assert apt.plan(["held"]) == {"held": "1"}
