from dataclasses import replace
from typing import Any

import pytest

from gpuprov.lab.vendor.standin import fabricmanager


@pytest.mark.parametrize(
    ("loaded", "switches", "status", "text"),
    [
        ("580.95.05", True, 0, ""),
        ("580.105.08", True, 1, "interface version 580.95.05 don't match with driver version 580.105.08"),
        ("580.95.05", False, 1, "NV_WARN_NOTHING_TO_DO"),
        (None, True, 1, "Failed to open"),
    ],
)
def test_it_starts_only_with_its_own_driver_and_with_switches(
    loaded: str | None,
    switches: bool,  # noqa: FBT001 - pytest names them
    status: int,
    text: str,
    make_root: Any,
    kit: Any,
    h100: Any,
    capsys: Any,
) -> None:
    root = make_root(replace(h100, nvswitch=switches), library=None, loaded=loaded)
    assert fabricmanager.check(kit, root) == status
    assert text in capsys.readouterr().out
