"""One update of a stack by another process of gpuprov, which can be killed. Called as `elsewhere ORDER`.

The order is a JSON file: the stack's place and its document. The status is that of a command: 8 after a second Ctrl-C.
"""

import json
import os
import sys
import threading
from pathlib import Path

from gpuprov.app.interrupt import cancelled_by_interrupt
from gpuprov.cli.ending import leave_nobody_waiting
from gpuprov.cloud.engine import find_engine
from gpuprov.cloud.stack import CloudStack
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError, status_of
from gpuprov.model.progress import ignore_progress

INTERRUPTED = 8
"""The status of a run that Ctrl-C ended."""


def main(path: Path) -> int:
    """Update the stack."""
    order = json.loads(path.read_text(encoding="utf-8"))
    document = order.pop("document")
    place = StackPlace(**{**order, "folder": Path(order["folder"])})
    try:
        with cancelled_by_interrupt(ignore_progress) as cancel:
            stack = CloudStack(place, find_engine(os.environ))
            told = stack.apply(document, report=ignore_progress, cancel=cancel).diagnostics
    except GpuprovError as error:
        told = error.diagnostics
    except KeyboardInterrupt:
        leave_nobody_waiting(INTERRUPTED, [threading.main_thread()])
        return INTERRUPTED
    return int(status_of(told))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
