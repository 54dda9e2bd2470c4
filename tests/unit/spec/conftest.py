"""Make tests/builders importable: test folders are no packages (importmode=importlib)."""

import sys
from pathlib import Path

BUILDERS = str(next(p for p in Path(__file__).parents if p.name == "tests") / "builders")
if BUILDERS not in sys.path:
    sys.path.insert(0, BUILDERS)
