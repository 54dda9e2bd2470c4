"""A host as a node of Slurm: drained with a mark of ours, free when its jobs have ended, returned only by that mark.

Seen with Slurm 22.05.8 (Debian 12, 2026-11-30): `state=resume` of a node that is not drained is an error, so the state
is read first; what Slurm itself finds wrong with a node is appended to the reason that stands there.
"""

import re
import shlex
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.model.host import Host
from gpuprov.rollout.reboot import Connect
from gpuprov.transport.protocol import Outcome, Transport

REASON: Final = "gpuprov: software change"
"""Our mark: only a node that is drained for exactly this reason is returned."""
HARMLESS: Final = ("Not responding", "Node unexpectedly rebooted")
"""What Slurm appends to a reason because of a reboot that we ordered; anything else that it appends keeps the node."""

_COMMAND_SECONDS: Final = 60.0
_RETURN_SECONDS: Final = 120.0
"""How long slurmd may take to report after a boot."""
_POLL_SECONDS: Final = 2.0
_LISTED: Final = 5
_WORKING: Final = frozenset({"ALLOCATED", "MIXED"})
_HOLDING: Final = frozenset({"COMPLETING"})
_OUT: Final = "DRAIN"
_STATE: Final = re.compile(r"\bState=(\S+)")
_REASON: Final = re.compile(r"^\s*Reason=(.*?)(?: \[(\S+)@[^\]]*\])?\s*$", re.MULTILINE)
_NAMES: Final = r"scontrol --oneliner show nodes | grep -oE '\b(NodeName|NodeAddr|NodeHostName)=[^ ]+'"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeState:
    """What Slurm says of a node."""

    base: str
    """IDLE, ALLOCATED, MIXED, DOWN and so on."""
    flags: frozenset[str]
    """DRAIN, COMPLETING and so on."""
    answers: bool
    """Whether slurmd reports."""
    reason: str
    who: str
    """Who set the reason."""

    @property
    def drained(self) -> bool:
        """Whether no new job starts on it."""
        return _OUT in self.flags

    @property
    def ours(self) -> bool:
        """Whether it is drained by our mark, and nobody and nothing else gave a reason since."""
        first, *more = self.reason.split(" : ")
        return self.drained and first == REASON and set(more) <= set(HARMLESS)

    @property
    def serves(self) -> bool:
        """Whether jobs may start on it."""
        return self.answers and not self.drained and self.base != "DOWN"

    @property
    def works(self) -> bool:
        """Whether a job is on it."""
        return self.base in _WORKING or bool(self.flags & _HOLDING)


def read_node(text: str) -> NodeState:
    """The state of a node, from what `scontrol show node` prints.

    Raises:
        ValueError: the text has no state.
    """
    state = _STATE.search(text)
    if state is None:
        raise ValueError("no State= in the answer of scontrol")
    base, *flags = state[1].split("+")
    reason = _REASON.search(text)
    plain = re.sub(r"[^A-Z_]", "", base)
    return NodeState(
        base=plain,
        flags=frozenset(re.sub(r"[^A-Z_]", "", flag) for flag in flags),
        answers=not base.endswith("*") and "NOT_RESPONDING" not in flags and plain != "UNKNOWN",
        reason=reason[1] if reason else "",
        who=(reason[2] or "") if reason else "",
    )


def find_node(text: str, names: set[str]) -> str | None:
    """The name of the node that is one of these names, host names or addresses; None where none or several are.

    Args:
        text: NodeName, NodeAddr and NodeHostName of all nodes, each on a line of its own, as `NAME=VALUE`.
        names: of the host.
    """
    found, node = set(), ""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        node = value if key == "NodeName" else node
        if value in names:
            found.add(node)
    return found.pop() if len(found) == 1 else None


class SlurmNode:
    """One host as a node of Slurm.

    Args:
        host: the host.
        on: where scontrol runs as root; the host itself, or the one that the spec names.
        connect: how to reach it.
        cancel: ends waiting.
    """

    def __init__(self, host: Host, on: Host, connect: Connect, cancel: threading.Event) -> None:
        self._host, self._on, self._connect, self._cancel = host, on, connect, cancel
        self._name = ""

    def take(self) -> str:
        """Drain the node, unless it is drained already; returns a sentence where somebody else did that."""
        with_us = self._state()
        if with_us.drained:
            return "" if with_us.ours else f"drained before by {_whose(with_us)}: it stays so"
        self._must(f"scontrol update nodename={self._node()} state=drain reason={shlex.quote(REASON)}")
        now = self._state()
        if not now.drained:
            raise GpuprovError(self._trouble("the node is not drained after it was asked to", _told(now)))
        return ""

    def busy(self) -> str:
        """What still runs on the node, in words; empty when it is free."""
        listed = self._must(f"squeue --noheader --nodelist={self._node()} --states=R,S,CG,CF,ST --format='%i %u'")
        state = self._state()
        jobs = [" of ".join(line.split(maxsplit=1)) for line in listed.splitlines() if line.strip()]
        if not jobs:
            return "a job that ends" if state.works else ""
        more = f" and {len(jobs) - _LISTED} more" if len(jobs) > _LISTED else ""
        return f"job {', '.join(jobs[:_LISTED])}{more}"

    def give(self) -> str:
        """Return the node if our mark alone keeps it; returns a sentence where it stays out of service.

        Raises:
            GpuprovError: GP-ROLL-007 when Slurm does not take it back.
        """
        state = self._until(lambda seen: not seen.ours or seen.answers)
        if not state.ours:
            return f"it stays drained by {_whose(state)}" if state.drained else ""
        if not state.answers:
            raise GpuprovError(self._trouble("slurmd does not report after the change", _told(state)))
        self._must(f"scontrol update nodename={self._node()} state=resume")
        state = self._until(lambda seen: seen.serves)
        if not state.serves:
            raise GpuprovError(self._trouble("Slurm does not take the node back", _told(state)))
        return ""

    def _until(self, good: Callable[[NodeState], bool]) -> NodeState:
        """The first good state, or the last one within the time that a boot of slurmd may take.

        slurmctld itself may be away for a moment: its machine may be among those that are changed.
        """
        started = time.monotonic()
        while True:
            late = time.monotonic() - started > _RETURN_SECONDS or self._cancel.is_set()
            try:
                state = self._state()
            except GpuprovError:
                if late:
                    raise
            else:
                if late or good(state):
                    return state
            self._cancel.wait(_POLL_SECONDS)

    def _state(self) -> NodeState:
        text = self._must(f"scontrol show node {self._node()}")
        try:
            return read_node(text)
        except ValueError as error:
            raise GpuprovError(self._trouble(str(error), text)) from error

    def _node(self) -> str:
        if not self._name:
            own = self._host.name == self._on.name
            text = self._must(f"{'hostname; hostname -s; ' if own else ''}{_NAMES}")
            lines = text.splitlines()
            names = {self._host.name, self._host.connection.address, *(line for line in lines if "=" not in line)}
            found = find_node(text, {*names, self._host.name.partition(".")[0]})
            if found is None:
                raise GpuprovError(self._trouble("Slurm has no node, or several, of this host's name or address", ""))
            self._name = shlex.quote(found)
        return self._name

    def _must(self, command: str) -> str:
        transport = self._connect(self._on)
        try:
            outcome = _run(transport, command)
        finally:
            transport.close()
        text = outcome.stdout.decode(errors="replace")
        if outcome.status != 0:
            said = outcome.stderr.decode(errors="replace").strip() or text.strip()
            raise GpuprovError(self._trouble(f"`{command.split(maxsplit=1)[0]}` fails on {self._on.name}", said))
        return text

    def _trouble(self, summary: str, detail: str) -> Diagnostic:
        return Diagnostic(
            code="GP-ROLL-007",
            address=self._host.name,
            summary=summary,
            detail=detail,
            hint=f"try `scontrol show node` on {self._on.name} as root; another host for it is named by "
            "`drain: {by: slurm, on: HOST}`",
        )


def _run(transport: Transport, command: str) -> Outcome:
    # A site may install Slurm beside the system's own programs.
    path = "PATH=$PATH:/usr/local/bin:/usr/local/sbin:/opt/slurm/bin:/usr/local/slurm/bin"
    return transport.run(f"{path}; {command}", timeout=_COMMAND_SECONDS, root=True)


def _whose(state: NodeState) -> str:
    return f"{state.who or 'somebody else'} ({state.reason or 'without a reason'})"


def _told(state: NodeState) -> str:
    return f"state {'+'.join([state.base, *sorted(state.flags)])}, reason: {state.reason or 'none'}"
