"""Runs one of the machine's own programs and turns a failure into a diagnostic."""

import shlex
import shutil
import subprocess
from collections.abc import Sequence

from gpuprov.model.diagnostic import Diagnostic, GpuprovError

PACKAGES = {
    "debootstrap": "debootstrap",
    "systemd-nspawn": "systemd-container",
    "nft": "nftables",
    "ip": "iproute2",
    "losetup": "mount",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "apt-config": "apt",
}
"""The programs that the lab needs, and the Debian package of each."""


def failure(summary: str, *, detail: str = "", hint: str = "", address: str = "lab") -> GpuprovError:
    """Make the error of a lab that cannot be built."""
    return GpuprovError(Diagnostic(code="GP-LAB-002", summary=summary, detail=detail, hint=hint, address=address))


def run(argv: Sequence[str], *, stdin: str | None = None, timeout: float = 60, doing: str = "") -> str:
    """Run a program to its end and return its standard output.

    Args:
        argv: program and arguments; no shell reads them.
        stdin: text for its standard input; nothing when None.
        timeout: seconds.
        doing: what this is for, for the message; the command line when empty.

    Raises:
        GpuprovError: it failed, it is not there, or it took too long.
    """
    what = doing or shlex.join(argv)
    try:
        done = subprocess.run(
            argv,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as error:
        raise missing([argv[0]]) from error
    except subprocess.TimeoutExpired as error:
        raise failure(f"{what} did not end within {timeout:.0f} s") from error
    if done.returncode:
        output = "\n".join((done.stderr or done.stdout).strip().splitlines()[-15:])
        raise failure(f"{what} failed with status {done.returncode}", detail=f"{shlex.join(argv)}\n{output}")
    return done.stdout


def missing(programs: Sequence[str]) -> GpuprovError:
    """Make the error of programs that are not installed."""
    packages = sorted({PACKAGES.get(program, program) for program in programs})
    return failure(
        f"not installed on this machine: {', '.join(programs)}", hint=f"apt-get install {' '.join(packages)}"
    )


def require_programs() -> None:
    """Check that every program the lab needs is there.

    Raises:
        GpuprovError: one is not; the hint names the packages.
    """
    absent = [program for program in PACKAGES if shutil.which(program) is None]
    if absent:
        raise missing(absent)
