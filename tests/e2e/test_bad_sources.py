"""Package sources that cannot be used, for real without a host: one clear error each, and the lock stays as it was."""

import gzip
import hashlib
import json
import lzma
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuprov.cli.main import main
from gpuprov.lab.vendor.repository import Signature, VendorRepository, build, default_cache
from gpuprov.lab.vendor.signing import SigningKey, make_key
from gpuprov.store.cache import cache_folder

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "bad-input" / "sources.yaml").read_text(encoding="utf-8"))
RELEASES = ("580.95.05", "580.105.08")
SPEC = """\
apiVersion: gpuprov/v1
name: sources
os: debian-12
sources:
  nvidia: {url: "{folder}/vendor", flat: true, key: vendor/lab-vendor.asc}
  os: {url: "{folder}/os", flat: true, key: os/key.asc}
stack:
  driver:
    version: "580.*"
  packages: []
pools: {train: {gpu: none, onprem: {group: train}}}
"""
OS_PACKAGES = ("adduser", "kmod", "libc6", "python3")
"""What the vendor's driver packages need of the OS."""


@dataclass(kw_only=True)
class SourcesSite:
    """A folder with a spec and the two repositories that it names."""

    folder: Path
    cache: Path
    own: SigningKey = field(default_factory=make_key)

    def publish(self, **choices: Any) -> VendorRepository:
        """Publish the vendor's repository, sound where nothing else is asked."""
        if "signature" in choices:
            choices["signature"] = Signature(choices["signature"])
        if "valid_until" in choices:
            choices["valid_until"] = datetime.fromisoformat(choices["valid_until"])
        return build(self.folder / "vendor", driver_releases=RELEASES, cache=self.cache, **choices)

    def publish_os(self) -> None:
        """Publish a small archive in place of the OS's, signed by a key of its own."""
        stanzas = "\n".join(
            f"Package: {name}\nVersion: 1.0-1\nArchitecture: all\nFilename: ./{name}.deb\nSize: 1\n"
            f"SHA256: {hashlib.sha256(name.encode()).hexdigest()}\nDescription: {name}\n"
            for name in OS_PACKAGES
        ).encode()
        folder = self.folder / "os"
        folder.mkdir()
        release = (
            f"Origin: test\nDate: {format_datetime(datetime.now(UTC), usegmt=True)}\nSHA256:\n"
            f" {hashlib.sha256(stanzas).hexdigest()} {len(stanzas)} Packages\n"
        ).encode()
        for name, data in (("Packages", stanzas), ("InRelease", self.own.sign_clear(release))):
            (folder / name).write_bytes(data)
        (folder / "key.asc").write_text(self.own.public, encoding="ascii")

    def change_packages(self) -> None:
        """Change one letter of the list after it was signed, in every form of it."""
        folder = self.folder / "vendor"
        changed = (folder / "Packages").read_bytes().replace(b"Package: nvidia-smi", b"Package: nvidia-smy", 1)
        (folder / "Packages").write_bytes(changed)
        (folder / "Packages.gz").write_bytes(gzip.compress(changed))
        (folder / "Packages.xz").write_bytes(lzma.compress(changed))

    def take_away(self) -> None:
        """Leave the key, and nothing of the repository."""
        key = (self.folder / "vendor" / "lab-vendor.asc").read_bytes()
        shutil.rmtree(self.folder / "vendor")
        (self.folder / "vendor").mkdir()
        (self.folder / "vendor" / "lab-vendor.asc").write_bytes(key)

    def ask_elsewhere(self, url: str) -> None:
        """Name another address of the vendor's repository in the spec."""
        path = self.folder / "gpuprov.yaml"
        before = f"{self.folder.as_uri()}/vendor"
        path.write_text(path.read_text(encoding="utf-8").replace(before, url), encoding="utf-8")

    def spoil_key(self) -> None:
        """Put a text into the key's place."""
        (self.folder / "vendor" / "lab-vendor.asc").write_text("no key\n", encoding="ascii")

    def withdraw_locked(self) -> None:
        """Withdraw the release that the lock pins, as the vendor did with some."""
        self.publish(withdraw=[f"driver/{self.locked()['pools']['train']['driver']}"])

    def change_content(self) -> None:
        """Offer the locked nvidia-persistenced with another content under the same version; soundly signed."""
        row = next(row for row in self.locked()["pools"]["train"]["packages"] if row["name"] == "nvidia-persistenced")
        text = (self.folder / "vendor" / "Packages").read_text(encoding="utf-8")
        assert text.count(row["sha256"]) == 1
        packages = text.replace(row["sha256"], "0" * 64).encode()
        for name in ("Packages.gz", "Packages.xz", "Release", "Release.gpg", "InRelease"):
            (self.folder / "vendor" / name).unlink()
        release = f"Date: {format_datetime(datetime.now(UTC), usegmt=True)}\nSHA256:\n"
        release += f" {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n"
        (self.folder / "vendor" / "Packages").write_bytes(packages)
        (self.folder / "vendor" / "InRelease").write_bytes(self.own.sign_clear(release.encode()))
        (self.folder / "vendor" / "lab-vendor.asc").write_text(self.own.public, encoding="ascii")

    def locked(self) -> Any:
        """The lock's content."""
        return json.loads((self.folder / "gpuprov.lock").read_text(encoding="utf-8"))["body"]

    def write_spec(self, edit: Mapping[str, str] | None = None) -> None:
        """Write the spec, with texts replaced; each stands there once."""
        text = SPEC.replace("{folder}", self.folder.as_uri())
        for old, new in (edit or {}).items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (self.folder / "gpuprov.yaml").write_text(text, encoding="utf-8")

    def mend(self) -> None:
        """Make everything sound again."""
        self.write_spec()
        self.publish()

    def files(self) -> dict[str, bytes]:
        """What gpuprov could have written: everything but the repositories."""
        outside = (self.folder / "vendor", self.folder / "os")
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(p): p.read_bytes() for p in found if not any(p.is_relative_to(folder) for folder in outside)}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourcesSite:
    """Sound repositories, a sound spec, no lock, and an empty cache of sources."""
    packages = default_cache()
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(folder)
    made = SourcesSite(folder=folder, cache=packages)
    made.publish_os()
    made.mend()
    return made


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_bad_source_gives_one_clear_error_and_the_lock_stays(
    case: dict[str, Any], site: SourcesSite, capsys: pytest.CaptureFixture[str]
) -> None:
    for with_lock in (True,) if case.get("locked") else (False, True):
        site.mend()
        if with_lock:
            assert main(["lock"]) == 0, capsys.readouterr().err
        site.write_spec(case.get("edit"))
        for name, choices in case.get("fault", {}).items():
            fault: Callable[..., object] = getattr(site, name)
            fault(**choices)
        before = site.files()
        # Lists that a sound index named are kept by their digest: what is wrong with a source shows where it is read.
        shutil.rmtree(cache_folder(), ignore_errors=True)
        capsys.readouterr()
        status = main(case["argv"])
        shown = capsys.readouterr()
        assert status == case["status"], shown.err
        errors = [line for line in shown.err.splitlines() if line.startswith("error[")]
        assert len(errors) == 1, shown.err
        assert errors[0].startswith(f"error[{case['code']}]"), shown.err
        assert [word for word in case["words"] if word not in shown.err] == [], shown.err
        assert "hint:" in shown.err
        assert "Traceback" not in shown.err
        assert shown.out == ""
        assert site.files() == before
    site.mend()
    assert main(["lock"]) == 0, capsys.readouterr().err
    assert main(["lock", "--check"]) == 0, capsys.readouterr().err


def test_after_a_withdrawal_the_lock_moves_to_what_is_left(
    site: SourcesSite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock"]) == 0, capsys.readouterr().err
    pinned = site.locked()["pools"]["train"]["driver"]
    assert pinned == RELEASES[-1]
    site.withdraw_locked()
    assert main(["lock"]) == 0, capsys.readouterr().err
    assert site.locked()["pools"]["train"]["driver"] == RELEASES[0]
    assert pinned in capsys.readouterr().out, "the move is shown"
