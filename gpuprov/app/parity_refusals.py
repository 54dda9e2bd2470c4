"""What `parity` cannot compare, and what to do instead."""

from collections.abc import Sequence
from pathlib import Path

from gpuprov.app.site import Site
from gpuprov.model.diagnostic import Diagnostic, GpuprovError


def refuse_other_lock(locks: Sequence[str], site: Site | None) -> None:
    """A lock is compared by the spec that it was made from: only the one beside the spec says what a host must be."""
    for text in locks:
        if text != "lock" and (site is None or Path(text).resolve() != site.lock_path.resolve()):
            own = str(site.lock_path) if site else "none, since there is no spec here"
            raise GpuprovError(
                Diagnostic(
                    code="GP-PAR-003",
                    address=text,
                    summary="the lock is not the one of this spec",
                    detail=f"the spec's own lock: {own}",
                    hint=f"name its spec: `gpuprov parity --against lock -f {Path(text).parent}/gpuprov.yaml`",
                )
            )


def refuse_same_file(first: str, second: str) -> None:
    """Refuse a file or folder that is given twice: it would agree with itself and prove nothing."""
    if Path(first).resolve() == Path(second).resolve():
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                address=first,
                summary=f"both operands are the same {'folder' if Path(first).is_dir() else 'file'}",
                detail="it would agree with itself, and prove nothing",
                hint="give another one, such as a snapshot that was taken before or on another host",
            )
        )


def refuse_limit(limit: str | None) -> None:
    """Refuse a limit where no host is looked at: it would narrow nothing."""
    if limit is not None:
        raise GpuprovError(
            Diagnostic(
                code="GP-PAR-003",
                address="--limit",
                summary=f"the limit `{limit}` narrows hosts of an inventory, and none is looked at here",
                hint="leave it away, and name the files that are meant",
            )
        )


def two_specs(specs: Sequence[str]) -> Diagnostic:
    """Two specs: their locks can be compared."""
    return Diagnostic(
        code="GP-PAR-003",
        summary=f"two specs cannot be compared: {' and '.join(specs)}",
        hint="name one with -f; what two specs lead to is compared by their locks: `gpuprov parity A.lock B.lock`",
    )


def lock_twice(operands: Sequence[str]) -> Diagnostic:
    """A lock or a spec as operand, and `--against lock` beside it."""
    return Diagnostic(
        code="GP-PAR-003",
        summary=f"--against lock already names one side, and {', '.join(operands)} names it again or names the spec",
        hint=f"leave one of them away: `gpuprov parity {' '.join(operands)}`",
    )


def spec_alone(operands: Sequence[str]) -> Diagnostic:
    """A spec with nothing, or with several things."""
    return Diagnostic(
        code="GP-PAR-003",
        summary=f"the spec is compared with one thing: {', '.join(operands)} was given",
        hint="`gpuprov parity spec lock`, `gpuprov parity spec HOST`, or `gpuprov parity spec FOLDER`",
    )


def in_no_pool(host: str, hosts: Sequence[str], side: str) -> Diagnostic:
    """A host that no pool of the spec has."""
    return Diagnostic(
        code="GP-PAR-003",
        address=host,
        summary=f"the snapshot's host is in no pool of the spec, so the {side} says nothing about it",
        detail="hosts: " + ", ".join(hosts),
    )


def too_many(operands: Sequence[str]) -> Diagnostic:
    """More operands than there are sides."""
    return Diagnostic(
        code="GP-PAR-003",
        summary=f"{len(operands)} operands were given: {', '.join(operands)}",
        hint="give two (hosts or snapshots), or one with --against lock, or none (all hosts against the lock)",
    )


def one_alone(text: str) -> Diagnostic:
    """One operand that is no folder and no lock."""
    return Diagnostic(
        code="GP-PAR-003",
        address=text,
        summary="one operand alone cannot be compared",
        hint=f"`gpuprov parity {text} --against lock`, or name a second host or snapshot; a folder of snapshots can",
    )
