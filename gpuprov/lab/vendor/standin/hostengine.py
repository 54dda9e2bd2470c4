"""Stand-in for nv-hostengine: listens on DCGM's port, so that dcgmi can tell whether it runs."""

import socket
import threading

from gpuprov.lab.vendor.standin.daemon import wait_for_end

ADDRESS = ("127.0.0.1", 5555)
"""DCGM's own port (DCGM user guide)."""


def main() -> int:
    """Runs nv-hostengine in the foreground, as its unit does."""
    server = socket.create_server(ADDRESS)
    threading.Thread(target=_answer, args=(server,), daemon=True).start()
    wait_for_end()
    return 0


def _answer(server: socket.socket) -> None:
    while True:
        connection, _ = server.accept()
        connection.close()
