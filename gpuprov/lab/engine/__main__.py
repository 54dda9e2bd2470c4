"""`python -m gpuprov.lab.engine`: have an engine, one way or another; `.ci/setup lab` runs it."""

import os
import sys

from gpuprov.lab.engine.build import have_engine
from gpuprov.model.diagnostic import GpuprovError


def main(arguments: list[str]) -> int:
    """Find or make the engine; with `--found`, only say whether there is one (status 0 or 1)."""
    try:
        engine = have_engine(os.environ, make=arguments != ["--found"])
    except GpuprovError as error:
        for one in error.diagnostics:
            print(f"error[{one.code}] {one.summary}\n{one.detail}\n  hint: {one.hint}", file=sys.stderr)  # noqa: T201
        return 1
    print(f"Pulumi engine {engine.version} ({engine.origin}): {engine.path}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
