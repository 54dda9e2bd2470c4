from collections.abc import Callable
from types import ModuleType

import pytest

SHOW = """Type=notify
Id=docker.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
NeedDaemonReload=no

Type=simple
Id=nvidia-dcgm.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
NeedDaemonReload=no
"""
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)\n"
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n"


def test_units_are_read_from_one_answer(load: Callable[[str], ModuleType]) -> None:
    found = load("gpuprov_services").parse_show(SHOW)
    assert set(found) == {"docker", "nvidia-dcgm"}
    assert found["docker"]["ActiveState"] == "active"
    assert found["nvidia-dcgm"]["UnitFileState"] == ""


@pytest.mark.parametrize(("text", "version"), [(OPEN, "580.95.05"), (CLOSED, "535.183.01"), ("", ""), ("x\n", "")])
def test_the_loaded_driver_is_read_from_both_flavours(
    load: Callable[[str], ModuleType], text: str, version: str
) -> None:
    assert load("gpuprov_services").parse_loaded(text) == version
