"""How long the command line takes to start: medians of paired runs, beside an interpreter that does nothing.

Each round runs every command once, in turn, so that a machine that gets busy slows all of them alike.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 15
GPUPROV = str(Path(sys.executable).with_name("gpuprov"))


def measure(argv: Sequence[str], folder: Path) -> float:
    """Run a command to its end in a folder and return its seconds.

    Raises:
        SystemExit: the command failed; a failing command's time says nothing.
    """
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: status {done.returncode}\n{done.stderr}")
    return seconds


def main() -> None:
    """Measure and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure((GPUPROV, "init", "--dir", name), folder)
        commands = {
            "python -c pass": (sys.executable, "-c", "pass"),
            "gpuprov --version": (GPUPROV, "--version"),
            "gpuprov --help": (GPUPROV, "--help"),
            "gpuprov validate": (GPUPROV, "validate", "-f", str(folder / "gpuprov.yaml")),
        }
        times: dict[str, list[float]] = {label: [] for label in commands}
        for argv in commands.values():  # once unmeasured: bytecode, page cache
            measure(argv, folder)
        for _ in range(ROUNDS):
            for label, argv in commands.items():
                times[label].append(measure(argv, folder))
    nothing = times["python -c pass"]
    version, load = sys.version.split()[0], os.getloadavg()[0]
    print(f"{ROUNDS} paired rounds, Python {version}, {os.cpu_count()} cores, load {load:.1f}")
    print(f"{'command':<20} {'median':>9} {'fastest':>9} {'ratio':>7}   (ratio: median of the pairs' ratios)")
    for label, seconds in times.items():
        ratio = statistics.median(mine / other for mine, other in zip(seconds, nothing, strict=True))
        print(f"{label:<20} {statistics.median(seconds) * 1000:6.0f} ms {min(seconds) * 1000:6.0f} ms {ratio:6.1f}x")


if __name__ == "__main__":
    main()
