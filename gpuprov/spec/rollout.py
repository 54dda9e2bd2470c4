"""In what steps the hosts of a pool are changed, as the spec says it."""

from dataclasses import dataclass
from typing import Annotated

from gpuprov.spec.about import About


@dataclass(frozen=True, kw_only=True, slots=True)
class DrainSpec:
    """What takes work off a host before it is disturbed, and gives the host back once it is proven."""

    by: Annotated[
        str,
        About(
            "`slurm` drains the node and returns it; `command` runs your own commands. It may stand alone: "
            "`drain: slurm`.",
            choices=("slurm", "command"),
            example="slurm",
        ),
    ] = "command"
    wait: Annotated[
        str,
        About(
            "How long running work may take to end; a host that is still busy then is given back as it was, and fails.",
            check="duration",
            example="2h",
        ),
    ] = "1h"
    on: Annotated[
        str,
        About(
            "For `slurm`: host of the inventory on which `scontrol` runs as root; each host itself when left out.",
            check="word",
            example="slurm-controller",
        ),
    ] = ""
    command: Annotated[
        str,
        About(
            "For `command`: runs on this machine before the host in `$GPUPROV_HOST` is disturbed, and ends with 0 when "
            "no work is left on it.",
            check="command",
            example='"site-drain $GPUPROV_HOST"',
        ),
    ] = ""
    back: Annotated[
        str,
        About(
            "For `command`: runs on this machine when the host in `$GPUPROV_HOST` may get work again.",
            check="command",
            example='"site-return $GPUPROV_HOST"',
        ),
    ] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class RolloutSpec:
    """In what steps hosts are changed."""

    batch: Annotated[
        str, About("How many hosts at a time: a number, or a percentage of the pool.", check="batch", example="25%")
    ] = "1"
    canary: Annotated[
        int | None,
        About("How many hosts are changed and proven before any other; one that fails ends the rollout.", example="1"),
    ] = None
    spread: Annotated[
        str | None,
        About(
            "Inventory variable that names a host's failure domain; no two hosts of one are changed at a time.",
            check="word",
            example="rack",
        ),
    ] = None
    max_failures: Annotated[
        int, About("How many hosts of the pool may fail before no further batch begins.", minimum=0, example="1")
    ] = 0
    pause: Annotated[str, About("How long to wait between two batches.", check="duration", example="10m")] = "0s"
    window: Annotated[
        str | None,
        About(
            "When batches may begin: days, hours, and `local` for this machine's clock in place of UTC.",
            check="window",
            example='"sat,sun 22:00-06:00 local"',
        ),
    ] = None
    drain: Annotated[
        DrainSpec | None,
        About(
            "What takes work off a host before a service restarts or the host reboots; `none` where nothing does.",
            none_word="none",
            example="slurm",
        ),
    ] = None
