"""`gpuprov lock` with frameworks: an index on the loopback, uv, and the lock from one run to the next."""

from pathlib import Path

import pytest
from lock_site import LockSite
from python_shelf import Shelf, serve

from gpuprov.lock.text import read_lock

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]  # starts another program: not for `make quick`


def frameworks_of(site: LockSite) -> dict[str, str]:
    locked = read_lock(site.lock.read_text(encoding="utf-8"), "gpuprov.lock").pools["train"].frameworks
    return {package.name: package.version for package in locked.packages} if locked is not None else {}


def ask(site: LockSite, url: str, frameworks: str) -> None:
    site.spec(f"{{packages: [htop], frameworks: {frameworks}}}", sources=("os",))
    text = site.path.read_text(encoding="utf-8")
    site.path.write_text(
        text.replace("sources:\n", f"sources:\n  pypi: {{type: python, url: '{url}'}}\n"), encoding="utf-8"
    )


def test_frameworks_are_locked_kept_moved_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    site, shelf = LockSite(folder=tmp_path, output=capsys), Shelf()
    site.publish("os", [{"is": "libc6 2.36-9"}, {"is": "htop 3.2.2-2", "depends": "libc6"}])
    for version in ("2.9.0", "2.10.0"):
        shelf.add("torch", version, "sympy>=1.13")
    shelf.add("sympy", "1.14.0")
    with serve(shelf) as url:
        ask(site, url, '{torch: "2.9.*"}')
        assert site.run()[0] == 0
        assert frameworks_of(site) == {"sympy": "1.14.0", "torch": "2.9.0"}
        first = site.lock.read_bytes()
        shelf.add("torch", "2.9.1", "sympy>=1.13")
        assert site.run()[0] == 0
        assert site.lock.read_bytes() == first
        assert site.run("--check")[0] == 0

        status, shown, _ = site.run("--upgrade", "torch")
        assert (status, "Python package torch  2.9.0 -> 2.9.1" in shown) == (0, True)
        ask(site, url, '{torch: "2.10.*"}')
        status, _, told = site.run("--check")
        assert (status, "torch==2.9.* from pypi" in told, "torch==2.10.* from pypi" in told) == (5, True, True)
        assert site.run()[0] == 0
        assert frameworks_of(site) == {"sympy": "1.14.0", "torch": "2.10.0"}

        gone = shelf.wheels["sympy"].popitem()
        shelf.add("sympy", "1.15.0")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
        status, _, told = site.run("--check")
        assert (status, "a package was withdrawn" in told, "sympy==1.14.0" in told) == (5, True, True)
        shelf.wheels["sympy"] = {gone[0]: gone[1] + b"changed"}
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "third"))
        status, _, told = site.run("--check")
        assert (status, "a package changed" in told, "Python package sympy" in told) == (5, True, True)

        ask(site, url, '{torch: "99.*"}')
        before = site.lock.read_bytes()
        status, _, told = site.run()
        assert (status, "GP-LOCK-008" in told, site.lock.read_bytes() == before) == (5, True, True)
