"""Whether there would be a way back from a plan, for people and for programs."""

from collections.abc import Sequence

from rich.text import Text

from gpuprov.model.change import Rollback

_SHOWN = 3


def rollback_line(rollback: Rollback) -> Text:
    """One line below a host's changes."""
    old = len(rollback.kept) + len(rollback.fetched) + len(rollback.lost) + len(rollback.unseen)
    size = f"{rollback.size / 10**6:.1f} MB of archives are kept there"
    if rollback.lost:
        return Text(f"  rollback not possible: no source has {_names(rollback.lost)}", style="error")
    if rollback.unseen:
        text = (
            f"{len(rollback.unseen)} of {old} old package(s) are not kept on the host ({_names(rollback.unseen)}):"
            " they are fetched first, and where no source has them the host is left alone"
        )
        return Text(f"  rollback: {text}", style="warning")
    if rollback.fetched:
        text = f"{len(rollback.fetched)} of {old} old package(s) are fetched first ({_names(rollback.fetched)}); {size}"
    else:
        text = f"the {old} old package(s) are on the host; {size}"
    return Text(f"  rollback possible: {text}", style="quiet")


def rollback_body(rollback: Rollback | None) -> dict[str, object] | None:
    """The same as JSON; None where there is nothing to go back to."""
    if rollback is None:
        return None
    return {
        "kept": list(rollback.kept),
        "fetched": list(rollback.fetched),
        "lost": list(rollback.lost),
        "unseen": list(rollback.unseen),
        "bytes": rollback.size,
    }


def _names(packages: Sequence[str]) -> str:
    more = f" and {len(packages) - _SHOWN} more" if len(packages) > _SHOWN else ""
    return ", ".join(packages[:_SHOWN]) + more
