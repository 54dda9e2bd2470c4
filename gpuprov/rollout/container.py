"""The proof that a container sees the host's GPUs."""

import inspect
from typing import Final

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.rollout import container_script
from gpuprov.transport.protocol import Transport
from gpuprov.want.files import DAEMON_PATH
from gpuprov.want.types import PoolWant

_SECONDS: Final = 300.0
_SHOWN_LINES: Final = 12


def gives_containers_gpus(pool: PoolWant) -> bool:
    """Whether containers on the pool's hosts are to see GPUs: a driver is loaded, and the engine has its runtime."""
    return pool.driver is not None and pool.gpu is not None and any(file.path == DAEMON_PATH for file in pool.files)


def see_gpus_in_container(transport: Transport, host: str, gpus: int) -> tuple[Diagnostic, ...]:
    """Run a container that lists its GPUs; nothing when it sees as many as the host has.

    Args:
        transport: to the host.
        host: its name.
        gpus: how many the host has.

    Raises:
        GpuprovError: GP-SSH codes.
    """
    script = inspect.getsource(container_script).encode()
    outcome = transport.run("python3 -", stdin=script, timeout=_SECONDS, root=True)
    lines = outcome.stdout.decode(errors="replace").splitlines()
    seen = sum(line.startswith("GPU ") for line in lines)
    if outcome.status == 0 and seen == gpus:
        return ()
    said = [*lines, *outcome.stderr.decode(errors="replace").splitlines()]
    what = f"sees {seen} of {gpus} GPU(s)" if outcome.status == 0 else f"cannot list GPUs (status {outcome.status})"
    return (
        Diagnostic(
            code="GP-ROLL-008",
            address=host,
            summary=f"a container with NVIDIA's runtime {what}",
            detail="\n".join(said[-_SHOWN_LINES:]),
            hint="try `docker run --rm --runtime nvidia -e NVIDIA_VISIBLE_DEVICES=all IMAGE nvidia-smi -L` on the host",
        ),
    )
