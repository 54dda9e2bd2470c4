"""The instance metadata service of one VPC: `python -m gpuprov.lab.aws.metadata LAB VPC` in its router's namespace.

It knows an instance by its address. As EC2's version 2 it gives a token for a PUT and, where the instance's metadata
options require one, answers 401 to a GET without. One exception, where the lab is kinder than EC2: while cloud-init has
not finished in the instance's present boot, it answers without a token. On EC2 cloud-init knows by the machine's DMI
tables where it is, and fetches a token; in a container it does not read them, fetches none, and not all its requests
say that they are its own (22.4.2, tried 2026-11-30). From then on everything is held to the token.
"""

import secrets
import signal
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from types import FrameType

from gpuprov.lab import cgroup
from gpuprov.lab.aws.metadata_file import InstanceMetadata, find_metadata
from gpuprov.lab.aws.metadata_tree import answer
from gpuprov.lab.aws.network import METADATA_ADDRESS, READY
from gpuprov.lab.names import LabNames
from gpuprov.lab.node import leader_of

_PORT = 80
_TOKEN_PATH = "/latest/api/token"  # noqa: S105 (a path)
_SECONDS = "X-aws-ec2-metadata-token-ttl-seconds"
_TOKEN = "X-aws-ec2-metadata-token"  # noqa: S105 (a header)
_LONGEST = 21600
"""Seconds a token may live: six hours (EC2 User Guide, "Use IMDSv2")."""
_FINISHED = "run/cloud-init/result.json"
"""What cloud-init writes at its end, in each boot anew."""


class Tokens:
    """The tokens that were given out; each is good for one instance, for as long as it asked."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def give(self, instance_id: str, seconds: int) -> str:
        """Make a token.

        Args:
            instance_id: who asks.
            seconds: how long it lives.
        """
        token = secrets.token_urlsafe(40)
        now = time.monotonic()
        with self._lock:
            self._until = {key: until for key, until in self._until.items() if until > now}
            self._until[instance_id, token] = now + seconds
        return token

    def good(self, instance_id: str, token: str) -> bool:
        """Whether a token is this instance's and lives."""
        with self._lock:
            return self._until.get((instance_id, token), 0.0) > time.monotonic()


def lifetime(text: str | None) -> int | None:
    """Return the seconds that a request for a token names; None when it names none that can be."""
    if text is None or not text.isdecimal() or not 1 <= int(text) <= _LONGEST:
        return None
    return int(text)


def admitted(metadata: InstanceMetadata, *, token: str | None, good: bool, starting: bool) -> bool:
    """Whether a GET is answered.

    Args:
        metadata: the instance that asks.
        token: the token that the request carries.
        good: whether that is one of the instance's, and lives.
        starting: whether cloud-init has not finished in the instance's present boot.
    """
    if token is not None:
        return good
    return starting or not metadata.tokens_required


def is_starting(names: LabNames, instance_id: str) -> bool:
    """Whether cloud-init has not finished in an instance's present boot; an instance that is off is not starting."""
    leader = leader_of(names, instance_id)
    return leader is not None and not Path(f"/proc/{leader}/root/{_FINISHED}").exists()


class _Handler(BaseHTTPRequestHandler):
    """Answers one instance."""

    protocol_version = "HTTP/1.1"
    server_version = "EC2ws"
    sys_version = ""
    names: LabNames
    vpc_id: str
    tokens: Tokens

    def do_PUT(self) -> None:
        """Give a token."""
        metadata = self._who()
        if metadata is None:
            return
        seconds = lifetime(self.headers.get(_SECONDS))
        if self.path.rstrip("/") != _TOKEN_PATH:
            self._say(HTTPStatus.NOT_FOUND)
        elif self.headers.get("X-Forwarded-For") is not None:
            self._say(HTTPStatus.FORBIDDEN)
        elif seconds is None:
            self._say(HTTPStatus.BAD_REQUEST)
        else:
            self.connection.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, metadata.hop_limit)
            token = self.tokens.give(metadata.instance_id, seconds)
            self._say(HTTPStatus.OK, token, {_SECONDS: str(seconds)})

    def do_GET(self) -> None:
        """Answer with a part of the metadata."""
        metadata = self._who()
        if metadata is None:
            return
        token = self.headers.get(_TOKEN)
        good = token is not None and self.tokens.good(metadata.instance_id, token)
        starting = is_starting(self.names, metadata.instance_id)
        if not admitted(metadata, token=token, good=good, starting=starting):
            self._say(HTTPStatus.UNAUTHORIZED)
            return
        found = answer(metadata, self.path.split("?")[0])
        if found is None:
            self._say(HTTPStatus.NOT_FOUND)
        else:
            self._say(HTTPStatus.OK, found)

    def _who(self) -> InstanceMetadata | None:
        """The instance that asks; an answer is given when it is unknown, or its service is switched off."""
        # What a PUT or GET carries besides its headers is of no interest, and would be read as the next request.
        self.close_connection = True
        metadata = find_metadata(self.names, self.vpc_id, self.client_address[0])
        if metadata is None:
            self._say(HTTPStatus.NOT_FOUND)
        elif not metadata.enabled:
            self._say(HTTPStatus.FORBIDDEN)
            return None
        return metadata

    def _say(self, status: HTTPStatus, body: str | bytes = "", headers: dict[str, str] | None = None) -> None:
        """Write an answer."""
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, text in {"Content-Type": "text/plain", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Write one line per request or error."""
        print(self.address_string(), self.log_date_time_string(), format % args, flush=True)  # noqa: T201 (the log)


class _Server(ThreadingHTTPServer):
    """A server for the instances of one VPC."""

    daemon_threads = True
    request_queue_size = 128

    def server_bind(self) -> None:
        """Bind, without the base class's question to a name server for the address's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]


def serve(names: LabNames, vpc_id: str, address: tuple[str, int]) -> _Server:
    """Make the server of a VPC's instances; the caller lets it run."""
    handler = type("Handler", (_Handler,), {"names": names, "vpc_id": vpc_id, "tokens": Tokens()})
    return _Server(address, handler)


def main(lab: str, vpc_id: str) -> None:
    """Join the VPC's cgroup, then serve until the process is ended."""
    names = LabNames(lab)
    cgroup.join(names.vpc_cgroup(vpc_id))

    def end(_number: int, _frame: FrameType | None) -> None:
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    with serve(names, vpc_id, (METADATA_ADDRESS, _PORT)) as server:
        (names.vpc_folder(vpc_id) / READY).touch()
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
