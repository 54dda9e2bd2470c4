import pytest

from gpuprov.lab import supervise


@pytest.mark.parametrize(
    ("ends", "status"),
    [([0], 0), ([133, 133, 0], 0), ([133, -9], -9), ([1], 1)],
    ids=["off", "reboots", "cut", "failed"],
)
def test_a_node_boots_again_after_a_reboot_only(monkeypatch: pytest.MonkeyPatch, ends: list[int], status: int) -> None:
    done: list[str] = []
    left = iter(ends)
    monkeypatch.setattr(supervise.cgroup, "join", lambda name: done.append(f"join {name}"))
    monkeypatch.setattr(supervise.cgroup, "remove", lambda name: done.append(f"remove {name}"))
    monkeypatch.setattr(supervise.cgroup, "create", lambda name: done.append(f"create {name}"))

    def boot(names: object, node: str) -> int:
        done.append(f"boot {node}")
        return next(left)

    monkeypatch.setattr(supervise, "boot", boot)
    assert supervise.main("abc", "gpu1") == status
    assert next(left, None) is None
    one_boot = ["remove gpl-abc/node-gpu1", "create gpl-abc/node-gpu1", "boot gpu1"]
    assert done == ["join gpl-abc/supervisors", *one_boot * len(ends)]
