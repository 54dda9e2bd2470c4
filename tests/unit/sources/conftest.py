"""Small signed repositories in a folder, and an http server on the loopback that can misbehave."""

import gzip
import hashlib
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pysequoia
import pytest
from loopback import answering

from gpuprov.sources.definition import SourceDefinition

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
STANZA = """Package: {name}
Version: {version}
Architecture: amd64
Filename: ./{name}_{version}_amd64.deb
Size: 10
SHA256: {digest}
"""


def stanza(name: str, version: str = "1.0-1", more: str = "") -> str:
    """One stanza of a Packages file."""
    digest = hashlib.sha256(f"{name}{version}".encode()).hexdigest()
    return STANZA.format(name=name, version=version, digest=digest) + more


@dataclass
class Repository:
    """A repository in a folder; `publish` writes it."""

    root: Path
    suite: str = "/"
    components: tuple[str, ...] = ()
    key: pysequoia.Tsk = field(default_factory=lambda: pysequoia.Tsk.generate("test"))

    @property
    def folder(self) -> Path:
        return self.root if self.suite == "/" else self.root / "dists" / self.suite

    @property
    def public(self) -> bytes:
        return bytes(self.key.extract_certificate())

    def definition(self, name: str = "test", **more: object) -> SourceDefinition:
        given: dict[str, object] = {
            "name": name,
            "url": self.root.as_uri(),
            "suite": self.suite,
            "components": self.components,
            "keys": self.public,
            "on_host": True,
        }
        return SourceDefinition(**(given | more))  # type: ignore[arg-type]

    def publish(
        self,
        text: str,
        *,
        head: str = "Date: Mon, 30 Nov 2026 10:00:00 UTC\n",
        suffix: str = ".xz",
        detached: bool = False,
        signer: pysequoia.Tsk | None = None,
    ) -> None:
        stem = "Packages" if self.suite == "/" else f"{self.components[0]}/binary-amd64/Packages"
        data = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix](text.encode())
        path = self.folder / (stem + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        release = f"{head}SHA256:\n {hashlib.sha256(data).hexdigest()} {len(data)} {stem}{suffix}\n".encode()
        self.sign(release, detached=detached, signer=signer or self.key)

    def sign(self, release: bytes, *, detached: bool, signer: pysequoia.Tsk) -> None:
        for name in ("InRelease", "Release", "Release.gpg"):
            (self.folder / name).unlink(missing_ok=True)
        if detached:
            (self.folder / "Release").write_bytes(release)
            signature = pysequoia.sign(signer.signer(), release, mode=pysequoia.SignatureMode.DETACHED)
            (self.folder / "Release.gpg").write_bytes(signature)
        else:
            signed = pysequoia.sign(signer.signer(), release, mode=pysequoia.SignatureMode.CLEAR)
            (self.folder / "InRelease").write_bytes(signed)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A flat repository; publish it before use."""
    return Repository(tmp_path / "repository")


@dataclass
class Server:
    """A loopback server: answers come from `reply`; every request is kept."""

    url: str
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    reply: Callable[[str, dict[str, str]], tuple[int, dict[str, str], bytes]] = lambda *_: (404, {}, b"")


@pytest.fixture
def server() -> Iterator[Server]:
    """A server whose answers the test decides."""
    found = Server(url="")

    def reply(path: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        found.seen.append((path, dict(headers)))
        return found.reply(path, dict(headers))

    with answering(reply) as found.url:
        yield found


@pytest.fixture
def make_stanza() -> Callable[..., str]:
    """Writer of stanzas."""
    return stanza


@pytest.fixture
def now() -> datetime:
    """The time of all tests here."""
    return NOW
