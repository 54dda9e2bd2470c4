"""`explain`: what an address or a code means, and what the spec at hand says there."""

from dataclasses import dataclass
from pathlib import Path

from gpuprov.app.origins import spec_origins
from gpuprov.model.address import split_address
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.reference.explain import Explanation, explain, near, overview
from gpuprov.spec.origin import Origin


@dataclass(frozen=True, kw_only=True, slots=True)
class Explained:
    """An explanation, with what is known of this site."""

    explanation: Explanation
    origins: tuple[Origin, ...] = ()
    """The final values of the spec at hand, at the address and below it."""
    unsound: bool = False
    """Whether there is a spec that cannot be read, so that its values cannot be told."""
    command: str = ""
    """The shell text by which the probe observes the facet; empty where the address is none."""


def explain_subject(subject: str, spec: Path | None) -> Explained:
    """Explain an address, a facet or a code; everything there is to ask for where the subject is empty.

    Args:
        subject: as it was typed.
        spec: what it says at the address is told as well; None for no spec.

    Raises:
        GpuprovError: GP-RUN-006 when nothing has this name; GP-DOC-001 when the spec cannot be read.
    """
    if not subject:
        return Explained(explanation=overview())
    found = explain(subject)
    if not found.known:
        raise GpuprovError(_unknown(subject))
    values = spec_origins(spec) if spec is not None and found.field is not None else None
    here = (o for o in values or () if o.address == found.subject or o.address.startswith(_below(found.subject)))
    return Explained(explanation=found, origins=tuple(here), unsound=values == (), command=_command(found))


def _below(address: str) -> tuple[str, str]:
    return f"{address}.", f"{address}["


def _command(found: Explanation) -> str:
    if found.facet is None:
        return ""
    # Imported here: the collectors are many, and fields and codes do not need them.
    from gpuprov.probe.collectors import BY_NAME  # noqa: PLC0415
    from gpuprov.probe.request import ProbeRequest  # noqa: PLC0415

    member = split_address(found.subject)
    family, name = (member[0], member[1]) if member else ("", "")
    request = ProbeRequest(paths=(name,) if family == "file" else (), services=(name,) if family == "service" else ())
    return BY_NAME[found.facet.facet.collector].command(request)


def _unknown(subject: str) -> Diagnostic:
    return Diagnostic(
        code="GP-RUN-006",
        summary=f"no field, facet or code is called {subject}",
        address=subject,
        hint=near(subject) or "`gpuprov explain` lists them",
    )
