"""A spec in a folder with small signed repositories beside it, and gpuprov's command line on it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from stanza_rows import Row, stanza_text

from gpuprov.cli.main import main
from gpuprov.lab.vendor.signing import SigningKey, make_key

POOLS = "{train: {gpu: none, onprem: {group: train}}}"


@dataclass(kw_only=True, slots=True)
class LockSite:
    """One folder; the repositories in it are what the spec's sources name."""

    folder: Path
    output: pytest.CaptureFixture[str]
    key: SigningKey = field(default_factory=make_key)

    def publish(self, source: str, rows: Sequence[Row]) -> None:
        """Write a source's index anew and sign it."""
        folder = self.folder / source
        folder.mkdir(exist_ok=True)
        text = "\n".join(map(stanza_text, rows)).encode()
        digest = hashlib.sha256(text).hexdigest()
        date = format_datetime(datetime.now(UTC), usegmt=True)
        release = f"Origin: test\nDate: {date}\nSHA256:\n {digest} {len(text)} Packages\n"
        (folder / "Packages").write_bytes(text)
        (folder / "InRelease").write_bytes(self.key.sign_clear(release.encode()))
        (folder / "key.asc").write_text(self.key.public, encoding="ascii")

    def spec(self, stack: str, *, sources: Sequence[str], more: str = "", pools: str = POOLS) -> None:
        """Write the spec: sources in the given order; a name may be followed by more keys of the source."""
        written = [source.partition(" ")[::2] for source in sources]
        entries = "".join(
            f"  {name}: {{url: '{(self.folder / name).as_uri()}', flat: true, key: {name}/key.asc{keys}}}\n"
            for name, keys in written
        )
        self.path.write_text(
            f"apiVersion: gpuprov/v1\nname: site\nos: debian-12\nsources:\n{entries}stack: {stack}\n"
            f"pools: {pools}\n{more}",
            encoding="utf-8",
        )

    @property
    def path(self) -> Path:
        """The spec."""
        return self.folder / "gpuprov.yaml"

    @property
    def lock(self) -> Path:
        """The lock beside it."""
        return self.folder / "gpuprov.lock"

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run `gpuprov lock` with more words; gives status, stdout and stderr."""
        status = main(["lock", "-f", str(self.path), *words])
        shown = self.output.readouterr()
        return status, shown.out, shown.err

    def json(self, *words: str) -> Mapping[str, Any]:
        """The same with `--json`: what stdout holds."""
        found: Mapping[str, Any] = json.loads(self.run(*words, "--json")[1])
        return found
