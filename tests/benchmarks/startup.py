"""How long the command line takes to start, beside an interpreter that does nothing."""

import sys
import tempfile
from pathlib import Path

from measure import GPUPROV, Command, Goal, once, report, rounds

ROUNDS = 15
NOTHING = "python -c pass"


def main() -> int:
    """Measure and print the table; 1 when a goal is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        once(Command(argv=(GPUPROV, "init", "--dir", name), folder=folder))
        commands = {
            NOTHING: (sys.executable, "-c", "pass"),
            "gpuprov --version": (GPUPROV, "--version"),
            "gpuprov --help": (GPUPROV, "--help"),
            "gpuprov validate": (GPUPROV, "validate", "-f", str(folder / "gpuprov.yaml")),
        }
        samples = rounds({label: Command(argv=argv, folder=folder) for label, argv in commands.items()}, ROUNDS)
    goals = (Goal(label="gpuprov --version", ratio=8), Goal(label="gpuprov validate", ratio=20))
    return 0 if report(samples, NOTHING, goals) else 1


if __name__ == "__main__":
    sys.exit(main())
