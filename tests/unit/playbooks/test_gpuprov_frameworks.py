"""gpuprov_frameworks in a process of its own, with uv and an index of small wheels in a folder of the test."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

pytestmark = pytest.mark.slow  # starts other programs: not for `make quick`

Run = Callable[..., dict[str, Any]]
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def wheel(folder: Path, name: str, version: str, text: str = "") -> str:
    """Write a wheel of one module and its place in the index (PEP 427, PEP 503); returns its sha256."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = {version!r}\n{text}",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_short(body)},{len(body)}" for path, body in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inner, body in files.items():
            archive.writestr(inner, body)
    links = "".join(f'<a href="{found.name}">{found.name}</a>\n' for found in sorted(folder.glob("*.whl")))
    (folder / "index.html").write_text(links)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _short(body: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(body.encode()).digest()).decode().rstrip("=")


@dataclass
class Bench:
    """A host's folder and two indexes."""

    run_module: Run
    folder: Path

    def bring(self, environment: str, versions: dict[str, str], *, check: bool = False, **more: Any) -> dict[str, Any]:
        """Bring an environment; each package comes from the index of its name's first letter."""
        packages = [
            {"name": name, "version": version, "source": name[0], "sha256": [self.digests[name, version]]}
            for name, version in versions.items()
        ]
        params = {
            "environment": environment,
            "python": PYTHON,
            "packages": packages,
            "indexes": {letter: (self.folder / "index" / letter).as_uri() for letter in "ab"},
            "folder": str(self.folder / "frameworks"),
            "uv": find_uv_bin(),
            "pip_configuration": str(self.folder / "pip.conf"),
        }
        return self.run_module("gpuprov_frameworks", check=check, **{**params, **more})

    def __post_init__(self) -> None:
        """Write the wheels; the second index also offers the first's package, as other people's do."""
        index = self.folder / "index"
        self.digests = {
            (name, version): wheel(index / name[0] / name, name, version)
            for name, version in (("alpha", "1.0"), ("alpha", "2.0"), ("beta", "1.5"))
        }
        wheel(index / "b" / "alpha", "alpha", "1.0", text="EVIL = True\n")

    def imported(self, code: str) -> str:
        """What a program says that runs in the environment in use."""
        python = self.folder / "frameworks" / "current" / "bin" / "python"
        return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    @property
    def environments(self) -> set[str]:
        """Names of what is in the folder."""
        return {path.name for path in (self.folder / "frameworks").iterdir()}


@pytest.fixture
def bench(run_module: Run, tmp_path: Path) -> Bench:
    if not Path(f"/usr/bin/python{PYTHON}").exists():
        pytest.fail(f"this test needs /usr/bin/python{PYTHON}, as a host has its own Python")
    return Bench(run_module, tmp_path)


def test_an_environment_is_made_kept_and_left_for_another(bench: Bench) -> None:
    first = {"alpha": "1.0", "beta": "1.5"}
    checked = bench.bring("aaaa", first, check=True)
    assert (checked["changed"], (bench.folder / "frameworks").exists()) == (True, False)
    done = bench.bring("aaaa", first)
    assert (done["changed"], done["notes"]) == (True, ["the environment aaaa is in use"])
    assert bench.imported("import alpha, beta; print(alpha.VERSION, beta.VERSION, hasattr(alpha, 'EVIL'))") == (
        "1.0 1.5 False"
    )
    assert bench.environments == {"aaaa", "current"}
    assert bench.bring("aaaa", first)["changed"] is False
    # Another set is another environment; the one before stays, and is taken into use again without an index.
    assert bench.bring("bbbb", {"alpha": "2.0"})["changed"] is True
    assert bench.imported("import alpha; print(alpha.VERSION)") == "2.0"
    assert bench.environments == {"aaaa", "bbbb", "current"}
    back = bench.bring("aaaa", first, indexes={"a": "file:///nowhere", "b": "file:///nowhere"})
    assert back["notes"] == ["the environment aaaa is in use, as it was before"]
    assert bench.environments == {"aaaa", "bbbb", "current"}


def test_an_environment_that_somebody_changed_is_made_again_beside_it(bench: Bench) -> None:
    bench.bring("aaaa", {"alpha": "1.0"})
    site = next((bench.folder / "frameworks" / "aaaa" / "lib").glob("python3*/site-packages"))
    (site / "alpha-1.0.dist-info").rename(site / "alpha-0.9.dist-info")
    assert bench.bring("aaaa", {"alpha": "1.0"}, check=True)["changed"] is True
    assert bench.bring("aaaa", {"alpha": "1.0"})["changed"] is True
    assert (bench.folder / "frameworks" / "current").readlink() == Path("aaaa.2")
    assert (site / "alpha-0.9.dist-info").exists()
    assert bench.bring("aaaa", {"alpha": "1.0"})["changed"] is False


def test_a_file_with_another_digest_is_refused_and_what_is_in_use_stays(bench: Bench) -> None:
    bench.bring("aaaa", {"alpha": "1.0"})
    bench.digests["alpha", "2.0"] = "0" * 64
    result = bench.bring("bbbb", {"alpha": "2.0"})
    assert result["failed"] is True
    assert result["gpuprov"]["reason"] == "frameworks"
    assert "ash" in result["gpuprov"]["detail"]
    assert bench.imported("import alpha; print(alpha.VERSION)") == "1.0"


def test_the_host_s_own_index_is_the_one_of_its_pip(bench: Bench) -> None:
    url = (bench.folder / "index" / "a").as_uri()
    (bench.folder / "pip.conf").write_text(f"[global]\nindex-url = {url}\n")
    row = {"name": "alpha", "version": "1.0", "source": "pypi", "sha256": [bench.digests["alpha", "1.0"]]}
    assert bench.bring("aaaa", {}, packages=[row])["changed"] is True
    assert bench.imported("import alpha; print(alpha.VERSION)") == "1.0"


def test_a_python_that_the_host_lacks_is_named(bench: Bench) -> None:
    result = bench.bring("aaaa", {"alpha": "1.0"}, python="3.4")
    assert "/usr/bin/python3.4" in result["gpuprov"]["text"]
    assert not (bench.folder / "frameworks" / "current").exists()


def test_without_packages_everything_goes_and_that_once(bench: Bench) -> None:
    bench.bring("aaaa", {"alpha": "1.0"})
    uv = bench.folder / "bin" / "uv"
    uv.parent.mkdir()
    uv.touch()
    assert bench.bring("", {}, check=True, uv=str(uv))["changed"] is True
    assert uv.exists()
    assert bench.bring("", {}, uv=str(uv))["changed"] is True
    assert not uv.parent.exists()
    assert not (bench.folder / "frameworks").exists()
    assert bench.bring("", {}, uv=str(uv))["changed"] is False
