"""How a host came out of a rollout, as results."""

from collections.abc import Sequence
from dataclasses import replace

from gpuprov.converge.types import HostOutcome
from gpuprov.model.diagnostic import Diagnostic
from gpuprov.model.run import HostResult, HostState
from gpuprov.rollout.types import Target


def not_started(target: Target, diagnostics: Sequence[Diagnostic] = ()) -> HostResult:
    """Nothing was changed on the host."""
    return HostResult(
        host=target.host.name,
        pool=target.host.pool,
        state=HostState.NOT_STARTED,
        diagnostics=tuple(diagnostics),
    )


def failed(target: Target, diagnostics: Sequence[Diagnostic], result: HostResult | None = None) -> HostResult:
    """Something failed; what a result says of the host so far stays."""
    return replace(result or not_started(target), state=HostState.FAILED, diagnostics=tuple(diagnostics))


def changed(target: Target, outcome: HostOutcome) -> HostResult:
    """The play ended well, and nothing is proven yet."""
    return HostResult(
        host=target.host.name,
        pool=target.host.pool,
        state=HostState.CHANGED,
        tasks=outcome.tasks,
        changed=outcome.changed,
        packages=outcome.packages,
        others=outcome.others,
        notes=outcome.notes,
    )


def interrupted(target: Target, result: HostResult) -> HostResult:
    """Ctrl-C came between the change and the proof."""
    diagnostic = Diagnostic(
        code="GP-RUN-003",
        address=target.host.name,
        summary="interrupted after the host was changed and before it was proven",
        hint="run the same command again: it looks at the host anew and goes on from there",
    )
    return failed(target, [diagnostic], result)
