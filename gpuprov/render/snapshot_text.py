"""Snapshots for people (the facts that tell hosts apart) and for programs (all of them)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.text import Text

from gpuprov.model.snapshot import NotObserved, Snapshot
from gpuprov.render.observation import observation_body, observation_text
from gpuprov.render.terminal import Terminal

_SHOWN: Final = (
    "host.os",
    "host.arch",
    "host.kernel.release",
    "host.kernel.next",
    "host.clock.correct",
    "gpu.count",
    "gpu.devices",
    "gpu.models",
    "stack.driver.on_disk",
    "stack.driver.loaded",
    "stack.driver.nvml",
    "stack.driver.modules",
    "stack.cuda.toolkits",
    "stack.container.version",
    "stack.container.toolkit",
    "stack.fabric.version",
    "stack.dcgm.version",
    "apt.dpkg",
)


def show_look(
    snapshots: Sequence[Snapshot], not_observed: Sequence[NotObserved], written: Sequence[Path], terminal: Terminal
) -> None:
    """Print the main facts of each host, what could not be seen, and which files were written."""
    for snapshot in snapshots:
        packages = sum(
            1 for address in snapshot.facts if address.startswith('package["') and address.endswith("].version")
        )
        terminal.out.print(
            Text.assemble(
                (snapshot.host, "name"), f"  {len(snapshot.facts)} facts, {packages} packages, {snapshot.taken}"
            )
        )
        for address in _SHOWN:
            terminal.out.print(f"  {address:24} {observation_text(snapshot.observe(address))}")
    show_not_observed(not_observed, terminal)
    for path in written:
        terminal.out.print(f"wrote {path}")


def show_stand_ins(stand_ins: Mapping[str, str], terminal: Terminal) -> None:
    """Say what hosts are called in the recordings; only this place knows, so that the recordings can be shared."""
    for host, stand_in in stand_ins.items():
        terminal.out.print(Text.assemble((host, "name"), f" is {stand_in} in its recording"))


def show_not_observed(not_observed: Sequence[NotObserved], terminal: Terminal) -> None:
    """Print each host that could not be observed, and why."""
    for missing in not_observed:
        lines = [*missing.detail.splitlines(), *([f"hint: {missing.hint}"] if missing.hint else [])]
        terminal.out.print(
            Text.assemble(
                ("switched off: ", "quiet") if missing.off else ("not observed: ", "warning"),
                (missing.host, "name"),
                f": {missing.reason} [{missing.code}]",
                *(f"\n  {line}" for line in lines),
            )
        )


def look_body(
    snapshots: Sequence[Snapshot], not_observed: Sequence[NotObserved], stand_ins: Mapping[str, str]
) -> dict[str, object]:
    """Snapshots as JSON, and what their hosts are called in recordings."""
    return {
        "snapshots": [
            {
                "host": snapshot.host,
                "taken": snapshot.taken,
                "seconds": round(snapshot.seconds, 3),
                "facts": {a: observation_body(f.observation) for a, f in sorted(snapshot.facts.items())},
            }
            for snapshot in snapshots
        ],
        "not_observed": not_observed_body(not_observed),
        "stand_ins": dict(stand_ins),
    }


def not_observed_body(not_observed: Sequence[NotObserved]) -> list[dict[str, str | bool]]:
    """Hosts that could not be observed, as JSON; `off` marks those that somebody switched off, which is no trouble."""
    return [
        {"host": m.host, "code": m.code, "reason": m.reason, "detail": m.detail, "hint": m.hint, "off": m.off}
        for m in not_observed
    ]
