"""The bare engine on the same project, state and plugin, without gpuprov: `cloud_bare.py up|preview WORK STACK`.

Pulumi's own SDK with an inline program, as this machine has no Python plugin of the engine; without the SDK's three
further starts of the engine after each update, which gpuprov does not make either.
"""

import json
import resource
import sys
from datetime import UTC, datetime
from pathlib import Path

from pulumi.automation import LocalWorkspace, OutputMap, ProjectSettings, Stack, UpdateSummary
from pulumi.automation._stack import StackInitMode

PROJECT = Path(__file__).resolve().parents[2] / "stacks" / "aws"


class BareStack(Stack):
    """A stack whose update is one start of the engine."""

    def outputs(self) -> OutputMap:
        """None are asked for."""
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary:  # noqa: FBT001, FBT002 (the SDK's form)
        """Nothing is asked for."""
        del show_secrets
        return UpdateSummary(
            kind="update", start_time=datetime.now(UTC), message="", environment={}, config={}, result="succeeded"
        )


def main() -> None:
    """Run the engine once."""
    step, work, name = sys.argv[1:]
    document = json.loads(Path("document.json").read_text(encoding="utf-8"))
    sys.path.insert(0, str(PROJECT))
    from program import program  # noqa: PLC0415 - a Pulumi project is no package

    workspace = LocalWorkspace(
        work_dir=work,
        program=lambda: program(document),
        project_settings=ProjectSettings(name="gpuprov-aws", runtime="python"),
    )
    stack = BareStack(name, workspace, StackInitMode.SELECT)
    if step == "up":
        counted = stack.up(suppress_outputs=True, suppress_progress=True).summary.resource_changes or {}
    else:
        counted = stack.preview().change_summary
    if moved := {str(action): count for action, count in counted.items() if "same" not in str(action).lower()}:
        sys.exit(f"not a no-op: {moved}")
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024 / 1e6}
    Path("step.json").write_text(json.dumps(took), encoding="utf-8")


if __name__ == "__main__":
    main()
