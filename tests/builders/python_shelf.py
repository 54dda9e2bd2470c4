"""An index of Python packages on the loopback: wheels with nothing in them but their metadata."""

import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

from loopback import answering


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
    with answering(shelf.reply) as url:
        yield f"{url}/simple"
