"""What the SDK of Pulumi leaves where an engine failed or was killed: it comes to light in whatever test runs then."""

import inspect
import sys
from pathlib import PurePath
from typing import Any


def is_leftover(found: Any) -> bool:
    """Whether an exception that nobody could catch is that of a coroutine of the SDK, which was never run to its end.

    Its program's coroutine waits for the engine's answers; when it is thrown away it awaits once more, which Python
    reports (SDK 3.272: `runtime/stack.py`, `run_pulumi_func`; seen 2026-11-30).

    Args:
        found: as `sys.unraisablehook` gets it.
    """
    thrown = found.object
    return inspect.iscoroutine(thrown) and "pulumi" in PurePath(thrown.cr_code.co_filename).parts


def pass_over_leftovers() -> None:
    """Report no such exception; every other one goes where it went before."""
    before = sys.unraisablehook

    def hook(found: Any) -> None:
        if not is_leftover(found):
            before(found)

    sys.unraisablehook = hook
