"""What of a host, as it was seen, keeps the stack from working there: sources, signatures, and how containers run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpuprov.rules.answer import Answer, Said, Verdict

_NOT_ENROLLED: Final = {
    "unsigned": "is not signed",
    "signer not enrolled": "is signed by a key that is not enrolled",
    "signer not enrolled, another key is": "is signed by a key that is not enrolled; another one is",
    "another key of the signer's name is enrolled": "is signed by another key than the enrolled one of that name",
}
"""What the probe says of a module's signature -> what it means for Secure Boot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostFacts:
    """What was seen on a host; empty where it was not, or does not apply."""

    host: str
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Repositories that several files name with different keys, with these files."""
    secure_boot: str = ""
    """enabled | disabled; empty without UEFI."""
    signature: str = ""
    """How the module on disk is signed, as the probe says it."""
    signer: str = ""
    module: bool = False
    """Whether there is a module of the driver on disk."""
    cgroup_driver: str = ""
    device_links: bool | None = None
    """Whether /dev/char links to the GPUs; None where that was not seen."""


def check_host(facts: HostFacts) -> Iterator[Answer]:
    """Check a host before it is changed; addresses of the answers are the host's name."""
    for place, files in facts.conflicts.items():
        yield Answer(
            rule="GP-RULE-017",
            verdict=Verdict.REFUSED,
            address=facts.host,
            summary=f"{' and '.join(files)} name the repository {place} with different keys",
            facts=tuple(Said(what=place, source=file) for file in files),
            consequence="apt reads no list at all then, and nothing can be installed.",
            satisfies="keep exactly one of the entries on the host",
        )
    yield from _secure_boot(facts)
    if facts.cgroup_driver == "systemd" and facts.device_links is False:
        yield Answer(
            rule="GP-RULE-019",
            verdict=Verdict.WARNING,
            address=facts.host,
            summary="running containers lose their GPUs when systemd reloads its units",
            facts=(
                Said(what="the engine's cgroup driver is systemd", source="the probe"),
                Said(what="/dev/char has no links to the GPUs", source="the probe"),
                Said(
                    what="known issue",
                    source="Container Toolkit release notes, 2026-08-21; nvidia-container-toolkit issues 48 and 1227",
                ),
            ),
            consequence="The host stays fine; containers fail with `Failed to initialize NVML: Unknown Error`.",
            satisfies="make the links: `nvidia-ctk system create-dev-char-symlinks --create-all`; recreate containers",
        )


def _secure_boot(facts: HostFacts) -> Iterator[Answer]:
    if facts.secure_boot != "enabled":
        return
    enrol = "enrol the key that signs the modules at the host's console (mokutil --import, then a reboot)"
    if facts.signature in _NOT_ENROLLED:
        signer = f" ({facts.signer})" if facts.signer else ""
        yield Answer(
            rule="GP-RULE-018",
            verdict=Verdict.REFUSED,
            address=facts.host,
            summary=f"Secure Boot is on, and the driver's module {_NOT_ENROLLED[facts.signature]}{signer}",
            facts=(
                Said(what="Secure Boot is enabled", source="the probe"),
                Said(what=f"the module: {facts.signature}", source="the probe"),
            ),
            consequence="After a reboot the kernel would refuse the module: Key was rejected by service.",
            satisfies=f"{enrol}; gpuprov never switches Secure Boot off",
        )
    elif not facts.module:
        yield Answer(
            rule="GP-RULE-018",
            verdict=Verdict.WARNING,
            address=facts.host,
            summary="Secure Boot is on, and the driver's module will be built on the host",
            facts=(
                Said(what="Secure Boot is enabled", source="the probe"),
                Said(what="no module of the driver is on disk", source="the probe"),
            ),
            consequence="The kernel loads it only when the host's own signing key (DKMS) is enrolled.",
            satisfies=enrol,
        )
