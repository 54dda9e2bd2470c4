import subprocess
import sys
from pathlib import Path

import pytest

from gpuprov.lab.vendor import payload
from gpuprov.lab.vendor.elf import kernel_module


def test_every_form_says_where_and_when_it_was_seen() -> None:
    forms = payload.forms()
    assert len(forms) > 30
    for id_, form in forms.items():
        assert len(str(form["source"])) >= 20, id_
        assert str(form["as_of"]).startswith("20"), id_


def test_a_broken_form_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.yaml").write_text("forms:\n  - {id: x.y, text: a, command: b, as_of: 2026-11-30}\n")
    monkeypatch.setattr(payload, "forms_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"x\.yaml: form 'x\.y' lacks source"):
        payload.forms.__wrapped__()


def test_a_form_may_not_be_there_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = "  - {id: x.y, text: a, command: b, source: somewhere, as_of: 2026-11-30}\n"
    (tmp_path / "x.yaml").write_text(f"forms:\n{row}{row}")
    monkeypatch.setattr(payload, "forms_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="is there twice"):
        payload.forms.__wrapped__()


def made(folder: Path, *, compiled_by: bytes | None = None) -> Path:
    """The stand-in of Fabric Manager as a file; with the magic number of another Python where one is given."""
    data = payload.program(
        "fabricmanager",
        form_prefixes=["nv-fabricmanager"],
        data={"version": "1.2.3"},
        answers={"-v": "nv-fabricmanager.version"},
    )
    path = folder / "nv-fabricmanager"
    path.write_bytes(data.replace(payload.compiler(), compiled_by) if compiled_by else data)
    path.chmod(0o755)
    return path


def run(path: Path, *arguments: str, python: str = "/usr/bin/python3") -> tuple[int, str, str]:
    """Run a program of a node with this Python in the place of the node's."""
    path.write_bytes(path.read_bytes().replace(b"exec /usr/bin/python3", f"exec {python}".encode()))
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False, cwd="/", env={})
    return done.returncode, done.stdout, done.stderr


def test_what_a_form_answers_alone_needs_no_python(tmp_path: Path) -> None:
    path = made(tmp_path)
    assert run(path, "-v", python="/no/python") == (0, "Fabric Manager version is : 1.2.3\n", "")
    assert run(path, "-x")[0] != 0


@pytest.mark.parametrize("compiled_by", [None, b"\x01\x02\r\n"], ids=["this Python", "another Python"])
def test_a_program_runs_alone_with_its_own_values(tmp_path: Path, compiled_by: bytes | None) -> None:
    status, stdout, stderr = run(made(tmp_path, compiled_by=compiled_by), python=sys.executable)
    assert (status, stderr) == (1, "")
    assert "driver" in stdout, "this machine has none"


def test_a_program_is_the_same_bytes_each_time() -> None:
    made = [payload.program("dcgmi", form_prefixes=["dcgm"], data={"version": "1"}) for _ in range(2)]
    assert made[0] == made[1]
    assert made[0] != payload.program("dcgmi", form_prefixes=["dcgm"], data={"version": "2"})


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["--version"], 0, "release 13.0, V13.0.88"),
        (["-V"], 0, "V13.0.88"),
        ([], 1, "nvcc fatal"),
        (["x.cu"], 1, "fatal"),
    ],
)
def test_a_static_program_answers_by_its_first_argument(
    tmp_path: Path, arguments: list[str], status: int, text: str
) -> None:
    values = {"year": "2025", "built": "now", "minor": "13.0", "nvcc": "13.0.88", "compiler": "1"}
    path = tmp_path / "nvcc"
    path.write_bytes(
        payload.static_program({"*": "nvcc.no-input", "--version": "nvcc.version", "-V": "nvcc.version"}, values)
    )
    done = subprocess.run(["sh", path, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert text in done.stdout


@pytest.mark.parametrize(("flavour", "license_"), [("open", b"Dual MIT/GPL"), ("proprietary", b"NVIDIA")])
def test_the_modules_license_tells_its_flavour(flavour: str, license_: bytes) -> None:
    data = payload.driver_module("580.95.05", flavour, architecture="amd64")
    assert b"license=" + license_ + b"\0version=580.95.05\0" in data
    assert data[:4] == kernel_module([], architecture="amd64")[:4]
