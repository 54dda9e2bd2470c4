"""What every transport can do."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """Everything that came back from one command."""

    status: int
    """Exit status; 128 + signal when a signal ended it."""
    stdout: bytes
    stderr: bytes
    seconds: float


class Held(Protocol):
    """A command that runs on a host for as long as this side lives and holds it."""

    @property
    def first(self) -> str:
        """The first line that the command printed."""

    @property
    def alive(self) -> bool:
        """Whether the command still runs, as far as this side knows."""

    def beat(self) -> None:
        """Give the command an empty line: this side lives."""

    def close(self) -> None:
        """End the command's input, by which it ends."""


class Transport(Protocol):
    """A connection to one host."""

    @property
    def host(self) -> str:
        """The host's name, as in the inventory."""

    def run(self, command: str, *, stdin: bytes = b"", timeout: float, root: bool = False) -> Outcome:
        """Run a POSIX shell command.

        Args:
            command: text for `sh -c`.
            stdin: bytes for the command's standard input.
            timeout: seconds, after which the command is ended.
            root: whether to become root as the connection says.

        Raises:
            GpuprovError: GP-SSH-005 when root is refused, GP-SSH-006 when the time limit passed, GP-SSH-007 when the
                connection was lost. A command's own exit status is no error.
        """

    def hold(self, command: str, *, timeout: float, root: bool = False) -> Held:
        """Start a POSIX shell command that reads its input until that ends, and wait for its first line.

        Args:
            command: text for `sh -c`.
            timeout: seconds in which the first line must come.
            root: whether to become root as the connection says.

        Raises:
            GpuprovError: as `run`; GP-SSH-007 also when the command ends without a line.
        """

    def put(self, content: bytes, path: str, *, mode: int, root: bool = False) -> None:
        """Write a file atomically (temporary file beside it, then rename)."""

    def close(self) -> None:
        """Close the connection; further calls are errors."""
