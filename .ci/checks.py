"""Runs the quick checks, two at a time, and shows each one's time and result; the README calls it `make quick`."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
TIMEOUT = 600
"""Seconds after which a check counts as hanging."""

# Files, not folders: ansible-lint starts a syntax check (3 s) for each role that it is given as a folder,
# and the one of site.yml reads all of them.
PLAYBOOKS = (
    "playbooks/site.yml",
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("playbooks/roles/**/*.yml")),
)

# CI runs the tests in one order, as it draws the same examples; a person's runs find what depends on the order.
ORDER = ("-p", "no:randomly") if "CI" in os.environ else ()

TESTS = "tests:"
UNIT = "tests/unit"
# Several plain runs of pytest, and not one with pytest-xdist: each of its workers reads all test files, loads all that
# they need and sets up what the tests of a file share.
# Who needs the cloud's libraries stands together, for they take seconds to load; what is named nowhere is "the rest".
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("laws", ("tests/property", "tests/architecture", f"{UNIT}/spec", f"{UNIT}/rules", f"{UNIT}/lock")),
    ("cloud", (f"{UNIT}/lab", f"{UNIT}/cloud", f"{UNIT}/stacks")),
    ("app", (f"{UNIT}/app", f"{UNIT}/cli", f"{UNIT}/provision", f"{UNIT}/reference", f"{UNIT}/rollout")),
)


def tests(name: str, *where: str) -> tuple[str, tuple[str, ...]]:
    """The check that runs the plain tests of some folders."""
    plain = "not (lab or slow or network or live or matrix)"
    return f"{TESTS} {name}", ("python", "-m", "pytest", *where, *ORDER, "-q", "-m", plain)


# The long ones first, so that the short ones fill the time beside them.
CHECKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    *(tests(name, *folders) for name, folders in GROUPS),
    tests("rest", "tests", *(f"--ignore={folder}" for _, folders in GROUPS for folder in folders)),
    ("types", ("mypy",)),
    ("playbooks", ("ansible-lint", "--offline", "--strict", "-q", *PLAYBOOKS)),
    ("layers", ("lint-imports",)),
    ("reference", ("python", "-m", "gpuprov.reference", "--check")),
    ("yaml", ("yamllint", "--strict", ".")),
    ("lint", ("ruff", "check", ".")),
    ("format", ("ruff", "format", "--check", ".")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What one check gave."""

    name: str
    status: int
    output: str
    seconds: float


def run(name: str, argv: tuple[str, ...]) -> Outcome:
    """Run one check with the environment's own programs first."""
    began = time.monotonic()
    # Laws over drawn examples: a few here, all of them where `make test` says so.
    laws = os.environ.get("GPUPROV_TEST_LAWS", "quick")
    environment = os.environ | {
        "GPUPROV_TEST_LAWS": laws,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
    }
    try:
        done = subprocess.run(
            (str(BIN / argv[0]), *argv[1:]),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = 124, f"{late.output or ''}\nno end after {TIMEOUT} s"
    return Outcome(name=name, status=status, output=output, seconds=time.monotonic() - began)


def main() -> int:
    """Run every check and return 1 when one failed."""
    began = time.monotonic()
    failed: list[str] = []
    print(f"{len(CHECKS)} checks: {', '.join(name for name, _ in CHECKS)}", flush=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        running = [pool.submit(run, name, argv) for name, argv in CHECKS]
        for done, future in enumerate(as_completed(running), start=1):
            outcome = future.result()
            word = "ok" if outcome.status == 0 else f"FAILED (status {outcome.status})"
            print(f"[{done}/{len(CHECKS)}] {outcome.name:<12} {outcome.seconds:6.1f} s  {word}", flush=True)
            if outcome.status:
                failed.append(outcome.name)
            # A test run's closing line is wanted when all is well too: it says how many tests there were.
            if outcome.status or outcome.name.startswith(TESTS):
                print(outcome.output.rstrip(), flush=True)
    spent = time.monotonic() - began
    print(f"failed: {', '.join(failed)} ({spent:.0f} s)" if failed else f"all checks passed in {spent:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
