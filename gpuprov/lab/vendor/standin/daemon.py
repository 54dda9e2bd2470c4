"""How the stand-in daemons go into the background and wait for their end."""

import os
import signal
from pathlib import Path


def detach(pid_file: Path) -> None:
    """Sends the caller into the background, writes its process id, and ends the foreground process with 0.

    The foreground process ends only once the file is there: systemd (Type=forking) reads it at once.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    os.setsid()
    os.close(reader)
    pid_file.parent.mkdir(parents=True, exist_ok=True)
    pid_file.write_text(f"{os.getpid()}\n")
    os.write(writer, b"1")
    os.close(writer)


def wait_for_end() -> None:
    """Returns when the process is asked to end (SIGTERM or SIGINT)."""
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    signal.sigwait(ends)
