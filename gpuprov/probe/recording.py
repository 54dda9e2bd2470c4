"""Splitting what the script printed into a recording."""

from collections.abc import Sequence

from gpuprov.model.fact import Known
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import TIMED_OUT, Collector, observe
from gpuprov.probe.collectors import BY_NAME
from gpuprov.probe.request import ProbeRequest


class BrokenOutputError(Exception):
    """The script's output has no end: it was cut, or never ran; the message says so."""


def split_output(text: str, token: str) -> tuple[dict[str, tuple[str, str, int]], float]:
    """Split the script's output at its frame lines.

    Returns:
        Collector -> stdout, stderr, status; and how long the script took, in seconds. A collector that did not end has
        the status of timeout(1).

    Raises:
        BrokenOutputError: there is no start or no finish line.
    """
    frames: list[tuple[list[str], str]] = []
    for part in ("\n" + text).split(f"\n{token} ")[1:]:
        head, _, body = part.partition("\n")
        frames.append((head.split(), body))
    if not frames or frames[0][0][:1] != ["start"] or frames[-1][0][:1] != ["finish"]:
        raise BrokenOutputError("the probe's output is not complete")
    collected: dict[str, tuple[str, str, int]] = {}
    for words, body in frames[1:-1]:
        match words:
            case ["out", name]:
                collected[name] = (body, "", TIMED_OUT)
            case ["err", name] if name in collected:
                collected[name] = (collected[name][0], body, TIMED_OUT)
            case ["end", name, status] if name in collected and status.isdigit():
                collected[name] = (*collected[name][:2], int(status))
            case _:
                raise BrokenOutputError(f"the probe's output has an unknown line: {' '.join(words)}")
    return collected, _seconds(frames[0][0], frames[-1][0])


def _seconds(start: list[str], finish: list[str]) -> float:
    try:
        return round(float(finish[1]) - float(start[1]), 2)
    except (IndexError, ValueError):
        return 0.0


def make_recording(
    text: str, *, token: str, host: str, taken: str, collectors: Sequence[Collector], request: ProbeRequest, why: str
) -> Recording:
    """Make the recording of one host from what its script printed.

    Args:
        text: the script's standard output.
        token: of the script.
        host: the host's name in the inventory.
        taken: when, RFC 3339.
        collectors: those of the script.
        request: of the script.
        why: why the probe did not run as root; empty when it did.

    Raises:
        BrokenOutputError: the text is not complete.
    """
    split, seconds = split_output(text, token)
    commands = {c.name: c.command(request) for c in collectors}
    outputs = {
        name: CollectorOutput(command=commands.get(name, ""), stdout=out, stderr=err, status=status)
        for name, (out, err, status) in split.items()
    }
    if "root" in outputs and why:
        root = outputs["root"]
        outputs["root"] = CollectorOutput(command=root.command, stdout=root.stdout, stderr=why, status=root.status)
    bare = Recording(host=host, os="", arch="", taken=taken, collectors=outputs, seconds=seconds)
    return Recording(
        host=host,
        os=_value(bare, "os", "host.os"),
        arch=_value(bare, "arch", "host.arch"),
        taken=taken,
        collectors=outputs,
        seconds=seconds,
    )


def _value(recording: Recording, collector: str, address: str) -> str:
    seen = observe(BY_NAME[collector], recording).get(address)
    return str(seen.value) if isinstance(seen, Known) else ""
