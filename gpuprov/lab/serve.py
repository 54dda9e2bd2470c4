"""The lab's package repository as a web server: static files and a request log, for `python -m gpuprov.lab.serve`.

Arguments: LAB FOLDER ADDRESS PORT. Standard output is the log: one line per request.
"""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from gpuprov.lab import cgroup
from gpuprov.lab.names import LabNames


class _Handler(SimpleHTTPRequestHandler):
    """Serves one folder, keeps connections open as apt likes it, and logs to standard output."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Write one line per request or error."""
        print(self.address_string(), self.log_date_time_string(), format % args, flush=True)  # noqa: T201 (the log)


class _Server(ThreadingHTTPServer):
    """A server for a handful of hosts that all ask at once."""

    daemon_threads = True
    request_queue_size = 128


def serve(folder: str, address: str, port: int) -> None:
    """Serve a folder until the process is ended."""
    with _Server((address, port), partial(_Handler, directory=folder)) as server:
        server.serve_forever()


def main(lab: str, folder: str, address: str, port: str) -> None:
    """Join the lab's cgroup, then serve."""
    cgroup.join(LabNames(lab).supervisors_cgroup)
    serve(folder, address, int(port))


if __name__ == "__main__":
    main(*sys.argv[1:])
