"""What is recorded of a cloud stack, for people and for programs."""

import time
from collections.abc import Sequence
from dataclasses import asdict

from rich.text import Text

from gpuprov.model.stack_record import Holder, Orphan, Restoring, StackRecord, StateCopy
from gpuprov.render.ages import age_text
from gpuprov.render.terminal import Terminal


def show_stack_record(record: StackRecord, terminal: Terminal) -> None:
    """Print where a stack is kept, what it holds, who holds it, and its copies, newest first."""
    out = terminal.out
    held = f"{record.resources} resource(s)" if record.resources is not None else "broken"
    out.print(Text.assemble((record.stack, "name"), f": {held} in {record.file}; secrets by {record.secrets}"))
    if record.broken:
        out.print(Text(f"  {record.broken}", style="error"))
    for address, operation in record.pending:
        out.print(Text.assemble("  ", ("cut off", "warning"), f" while {operation} ", (address, "name")))
    if record.unfinished:
        out.print(Text.assemble("  ", ("unfinished", "warning"), ": the last update has not ended well"))
    show_holders(record.holders, terminal)
    for copy in record.copies:
        out.print(_copy_line(copy))
    if not record.copies:
        out.print("no copy of the state yet")


def show_holders(holders: Sequence[Holder], terminal: Terminal) -> None:
    """Print who holds a stack's state, since when, and whether that process lives."""
    for one in holders:
        if not one.machine:
            terminal.out.print(Text.assemble("  ", ("held", "warning"), f" by somebody: {one.file} cannot be read"))
            continue
        lives = {True: "lives", False: "is gone", None: "is on another machine"}[one.alive]
        age = f", {age_text(one.seconds)} ago" if one.seconds is not None else ""
        terminal.out.print(
            Text.assemble(
                "  ",
                ("held", "warning"),
                f" by {one.user} on {one.machine} since {one.since}{age}: process {one.pid} {lives}",
            )
        )


def show_restoring(meaning: Restoring, terminal: Terminal) -> None:
    """Print what putting a copy back means."""
    out = terminal.out
    out.print(Text.assemble("back to ", _copy_line(meaning.copy)))
    if meaning.now_broken:
        out.print("  the state is broken now: what it knew beyond the copy cannot be told")
    for sign, style, addresses, words in (
        ("-", "remove", meaning.forgotten, "no longer known"),
        ("+", "add", meaning.known_again, "known again"),
    ):
        for address in addresses:
            out.print(Text.assemble("  ", (sign, style), f" {words}  ", (address, "name")))
    if meaning.forgotten:
        out.print(
            "  resources that are no longer known stay in the account; `gpuprov recover` finds them by their tags"
        )


def show_recovery(
    pending: Sequence[tuple[str, str]], orphans: Sequence[Orphan], terminal: Terminal, *, unfinished: bool
) -> None:
    """Print what interrupted runs left, before anything is settled."""
    out = terminal.out
    for address, operation in pending:
        out.print(
            Text.assemble(
                (address, "name"), f": an engine was killed while {operation} it; the account is asked how that ended"
            )
        )
    if unfinished:
        out.print("the last update has not ended well: everything of the spec is looked for in the account")
    for one in orphans:
        twin = ", beside the one that the state knows" if one.twin else ""
        out.print(Text.assemble((one.address, "name"), f": {one.id} carries the spec's tags, no state knows it{twin}"))
    if not (pending or orphans or unfinished):
        out.print("nothing is pending, and the account holds nothing of the spec that the state does not know")


def stack_record_body(record: StackRecord) -> dict[str, object]:
    """The same as JSON."""
    return {
        "stack": record.stack,
        "backend": record.backend,
        "secrets": record.secrets,
        "file": record.file,
        "resources": record.resources,
        "broken": record.broken,
        "pending": [{"address": address, "operation": operation} for address, operation in record.pending],
        "unfinished": record.unfinished,
        "held_by": holders_body(record.holders),
        "copies": [_copy_body(copy) for copy in record.copies],
    }


def holders_body(holders: Sequence[Holder]) -> list[dict[str, object]]:
    """Who holds a state, as JSON."""
    return [asdict(one) for one in holders]


def restoring_body(meaning: Restoring) -> dict[str, object]:
    """What putting a copy back means, as JSON."""
    return {
        "copy": _copy_body(meaning.copy),
        "forgotten": list(meaning.forgotten),
        "known_again": list(meaning.known_again),
        "now_broken": meaning.now_broken,
    }


def orphans_body(orphans: Sequence[Orphan]) -> list[dict[str, object]]:
    """Orphans as JSON."""
    return [asdict(one) for one in orphans]


def _copy_line(copy: StateCopy) -> Text:
    written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(copy.written))
    held = f"{copy.resources} resource(s)" if copy.resources is not None else f"broken: {copy.broken}"
    return Text.assemble(
        (copy.name, "name"), f"  {written}  {copy.origin!s:19}  ", (held, "error" if copy.broken else "")
    )


def _copy_body(copy: StateCopy) -> dict[str, object]:
    return {**asdict(copy), "origin": str(copy.origin)}
