"""An index of Python packages on the loopback: wheels with nothing in them but their metadata."""

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote


@dataclass
class Shelf:
    """Wheels by project, served as a simple index (PEP 503) with the metadata beside each wheel (PEP 658)."""

    wheels: dict[str, dict[str, bytes]] = field(default_factory=dict)
    metadata: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, version: str, *needs: str, tag: str = "py3-none-any") -> str:
        """Put a wheel on the shelf; gives its digest."""
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        lines = [
            "Metadata-Version: 2.1",
            f"Name: {name}",
            f"Version: {version}",
            *(f"Requires-Dist: {n}" for n in needs),
        ]
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr(zipfile.ZipInfo(f"{folder}/METADATA"), "\n".join(lines) + "\n")
            archive.writestr(zipfile.ZipInfo(f"{folder}/WHEEL"), f"Wheel-Version: 1.0\nTag: {tag}\n")
            archive.writestr(zipfile.ZipInfo(f"{folder}/RECORD"), "")
        filename = f"{name.replace('-', '_')}-{version}-{tag}.whl"
        self.wheels.setdefault(name, {})[filename] = data.getvalue()
        self.metadata[f"{filename}.metadata"] = "\n".join(lines).encode() + b"\n"
        return hashlib.sha256(data.getvalue()).hexdigest()

    def reply(self, path: str, _: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        """Answer a request: the page of a project, or a wheel."""
        *_, project, filename = path.split("/")
        held = self.wheels.get(project)
        if held is None:
            return 404, {}, b""
        if filename:
            return 200, {}, self.metadata[unquote(filename)]
        links = [
            f'<a href="{n}#sha256={hashlib.sha256(d).hexdigest()}" data-core-metadata="true">{n}</a>'
            for n, d in held.items()
        ]
        return 200, {"Content-Type": "text/html"}, "<br>".join(links).encode()


@contextmanager
def serve(shelf: Shelf) -> Iterator[str]:
    """Serve a shelf until the end of the block; gives the index's URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = shelf.reply(self.path, {})
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/simple"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
