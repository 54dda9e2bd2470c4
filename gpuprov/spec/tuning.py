"""Settings of the kernel, of users' limits, and of processors and GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from gpuprov.spec.about import About


@dataclass(frozen=True, kw_only=True, slots=True)
class TuningSpec:
    """How the hosts are tuned, on all pools."""

    sysctl: Annotated[
        Mapping[str, str],
        About(
            "Settings of the kernel, in force at once and after every boot; what was there before comes back.",
            key="sysctl",
            check="setting",
            example='{vm.swappiness: "10"}',
        ),
    ] = field(default_factory=dict)
    limits: Annotated[
        Mapping[str, str],
        About(
            "Limits of users' sessions, root's too, soft and hard, as limits.conf(5) names them; from the next login "
            "on. Units of systemd have limits of their own.",
            key="limit",
            check="limit_value",
            example="{memlock: unlimited}",
        ),
    ] = field(default_factory=dict)
    hugepages: Annotated[
        int | None,
        About("How many huge pages of the default size are set aside.", minimum=0, maximum=1 << 24, example="1024"),
    ] = None
    governor: Annotated[
        str | None,
        About("How the processors choose their frequency.", check="word", example="performance"),
    ] = None
    power_limit: Annotated[
        int | None,
        About("Watts that each GPU may draw, on pools with GPUs.", minimum=50, maximum=3000, example="500"),
    ] = None
    clocks: Annotated[
        int | None,
        About(
            "MHz at which the GPUs' clocks are locked, on pools with GPUs; no query of nvidia-smi tells them: "
            "only the unit that sets them is looked at.",
            minimum=100,
            maximum=5000,
            example="1980",
        ),
    ] = None
