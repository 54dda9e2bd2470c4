"""The plugin as a process: `python -m gpuprov.lab.aws.plugin LAB PORT ENDPOINT`; LAB is `-` outside a lab."""

import sys

from gpuprov.lab import cgroup
from gpuprov.lab.aws.plugin.server import PluginServer
from gpuprov.lab.names import LabNames


def main(lab: str, port: str, endpoint: str) -> None:
    """Join the lab's cgroup, then serve on the loopback until the process is ended."""
    if lab != "-":
        cgroup.join(LabNames(lab).supervisors_cgroup)
    server = PluginServer(endpoint=endpoint, port=int(port), say=_log)
    server.start()
    _log(f"aws plugin: 127.0.0.1:{server.port}, endpoint {endpoint}")
    server.wait()


def _log(line: str) -> None:
    """Write a line of the log, which is standard output."""
    print(line, flush=True)  # noqa: T201 (the log)


if __name__ == "__main__":
    main(*sys.argv[1:])
