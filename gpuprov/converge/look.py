"""Ask the package module on hosts what it would do: the same module as the play's, without a play around it."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from gpuprov.converge.events import Kind, TaskEvent
from gpuprov.converge.kept import kept_variables
from gpuprov.converge.outcome import Tally
from gpuprov.converge.types import HostOutcome, HostStatus, Keeping, RunDocuments
from gpuprov.converge.variables import RECORD, package_variables
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.host import Host
from gpuprov.model.progress import Progress, Report
from gpuprov.plan.removal import Removal
from gpuprov.transport.pool import run_on_all
from gpuprov.transport.protocol import Outcome
from gpuprov.transport.ssh import connect
from gpuprov.want.types import HostWant

_SECONDS: Final = 900.0
"""For one host: package lists over a slow line, and apt's own time."""
_PREFIX: Final = "gpuprov_packages_"
_PYTHON: Final = "/usr/bin/python3"
# Memory first: a full disk is one of the things that the look is to tell.
_RUN: Final = """
for t in /dev/shm /run /tmp /var/tmp; do p=$(mktemp "$t/gpuprov.XXXXXX" 2>/dev/null) && break; done
[ -n "$p" ] || { echo 'no folder for a temporary file' >&2; exit 71; }
trap 'rm -f "$p"' EXIT
trap 'exit 129' HUP INT TERM
cat >"$p"
@PYTHON@ "$p"
"""
_MAIN: Final = "import runpy\nrunpy.run_module('look.module', run_name='__main__')\n"

Asked = tuple[Host, HostWant, Removal, Keeping | None]
"""A host, its want, what its plan takes away, and what it would keep for a rollback."""


def look(hosts: Sequence[Asked], *, playbooks: Path, limit: int, report: Report) -> dict[str, HostOutcome]:
    """Ask each host's apt about its package transaction; nothing on any host is changed.

    Args:
        hosts: which.
        playbooks: folder that holds the module.
        limit: hosts at the same time.
        report: one Progress when it begins and one for each host that answered.
    """
    report(Progress(phase="simulate", text=f"asking apt on {len(hosts)} host(s)", done=0, total=len(hosts)))

    module = module_files(playbooks)

    def ask(asked: Asked) -> HostOutcome:
        host, *_ = asked
        try:
            outcome = _outcome(host, _ask(asked, module))
        except GpuprovError as error:
            outcome = HostOutcome(status=HostStatus.UNREACHABLE, diagnostics=error.diagnostics)
        text = "apt was asked" if not outcome.diagnostics else outcome.diagnostics[0].summary
        report(Progress(phase="simulate", subject=host.name, text=text, finished=True))
        return outcome

    found = run_on_all(hosts, ask, limit=limit)
    return {host.name: outcome for (host, *_), outcome in zip(hosts, found, strict=True)}


def parameters(want: HostWant, removal: Removal, keeping: Keeping | None) -> dict[str, Any]:
    """The module's parameters, as the role gives them; what would be kept on the host is not sent for a look."""
    variables = package_variables(want.pool, removal)
    if keeping is not None:
        variables |= kept_variables(keeping, RunDocuments(spec="", lock=""), RECORD)
    given = {name.removeprefix(_PREFIX): value for name, value in variables.items() if name.startswith(_PREFIX)}
    return {**given, "allow_downgrades": True}


def module_files(playbooks: Path) -> dict[str, str]:
    """The module with all that it needs: place -> text."""
    plugins = playbooks / "plugins"
    files = {
        "__main__.py": _MAIN,
        "look/__init__.py": "",
        "look/module.py": (plugins / "modules" / "gpuprov_packages.py").read_text(encoding="utf-8"),
        "ansible/__init__.py": "",
        "ansible/module_utils/__init__.py": "",
        "ansible/module_utils/basic.py": (plugins / "look" / "basic.py").read_text(encoding="utf-8"),
    }
    for path in sorted((plugins / "module_utils").glob("gpuprov_*.py")):
        files[f"ansible/module_utils/{path.name}"] = path.read_text(encoding="utf-8")
    return files


def archive(module: Mapping[str, str], given: Mapping[str, Any]) -> bytes:
    """The module and its parameters as one file that Python runs."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression=zipfile.ZIP_DEFLATED) as folder:
        for name, text in (*module.items(), ("look/parameters.json", json.dumps(given))):
            folder.writestr(name, text)
    return packed.getvalue()


def _ask(asked: Asked, module: Mapping[str, str]) -> Outcome:
    host, want, removal, keeping = asked
    command = _RUN.replace("@PYTHON@", host.connection.python or _PYTHON)
    transport = connect(host.connection)
    try:
        content = archive(module, parameters(want, removal, keeping))
        return transport.run(command, stdin=content, timeout=_SECONDS, root=True)
    finally:
        transport.close()


def _outcome(host: Host, outcome: Outcome) -> HostOutcome:
    """What the module said, told as the same words from a play would be."""
    stdout, stderr = (text.decode(errors="replace") for text in (outcome.stdout, outcome.stderr))
    result = _result(stdout)
    if result is None:
        last = (stderr.strip().splitlines() or ["it gave no answer"])[-1]
        # What the system refused says all by itself; where in the module that was, nobody needs to know.
        result = {"failed": True, "msg": last, "module_stderr": "" if last.startswith("OSError") else stderr}
    kind = Kind.FAILED if result.get("failed") or outcome.status else Kind.OK
    tally = Tally(host.name, Path("the host's own log"))
    tally.take(TaskEvent(kind=kind, host=host.name, task="ask apt", action="gpuprov_packages", result=result))
    return tally.outcome(ended=True, cancelled=False, tail="")


def _result(stdout: str) -> dict[str, Any] | None:
    lines = stdout.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
