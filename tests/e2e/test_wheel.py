"""The wheel works, with its dependencies, in an empty environment away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.network, pytest.mark.timeout(600)]
DATA_FOLDERS = ("playbooks", "stacks", "inventory")


def run(*argv: str | Path, folder: Path, home: Path) -> str:
    """Run a program away from the checkout, with nothing of this environment's, and return what it printed."""
    clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    # The package client keeps this machine's own settings: which index, which certificates.
    own = {
        name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.lower().endswith("_proxy")
    }
    done = subprocess.run(argv, cwd=folder, env=clean | own, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, f"{argv}: status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    argv = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, checkout)
    run(*argv, folder=folder, home=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    run(base, "-m", "venv", folder / "venv", folder=folder, home=folder)
    # Not compiled: pulumi_aws alone is thousands of modules, of which nothing here uses more than a few.
    install = ("-m", "pip", "install", "--quiet", "--no-compile", wheel)
    run(folder / "venv/bin/python", *install, folder=folder, home=Path.home())
    return folder


def test_it_carries_every_file_of_the_data_folders(wheel: Path, checkout: Path) -> None:
    argv = ("git", "-c", f"safe.directory={checkout}", "ls-files", "-z", *DATA_FOLDERS)
    listed = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, timeout=30, check=True).stdout
    wanted = {f"gpuprov/_data/{name}" for name in listed.split("\0") if name}
    assert {name.split("/")[2] for name in wanted} == set(DATA_FOLDERS)
    with zipfile.ZipFile(wheel) as archive:
        assert wanted - set(archive.namelist()) == set()


def test_it_carries_nothing_of_the_tests_or_the_tools(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        licence = [name for name in archive.namelist() if name.endswith("/LICENSE")]
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gpuprov"}
    assert len(licence) == 1


def test_its_own_dependencies_suffice_for_every_module(installed: Path) -> None:
    """But for the lab's AWS, which needs the extra `lab`; the rest of the lab says so and works without."""
    code = (
        "import importlib, pkgutil, gpuprov\n"
        "names = [m.name for m in pkgutil.walk_packages(gpuprov.__path__, 'gpuprov.')\n"
        "         if '._data' not in m.name and not m.name.startswith('gpuprov.lab.aws.')]\n"
        "[importlib.import_module(name) for name in names if not name.endswith('.__main__')]\n"
        "print(len(names), gpuprov.__file__)\n"
    )
    count, place = run(installed / "venv/bin/python", "-c", code, folder=installed, home=installed).split()
    assert int(count) > 50
    assert place.startswith(str(installed))


def test_the_first_steps_work(installed: Path) -> None:
    gpuprov = installed / "venv/bin/gpuprov"
    assert run(gpuprov, "--version", folder=installed, home=installed).startswith("gpuprov ")
    run(gpuprov, "init", "--dir", installed / "site", folder=installed, home=installed)
    said = run(gpuprov, "validate", "-f", installed / "site/gpuprov.yaml", folder=installed, home=installed)
    assert "sound" in said


def test_its_playbooks_are_found_and_ansible_reads_them(installed: Path) -> None:
    code = "from gpuprov.converge.locate import find_playbooks; print(find_playbooks())"
    playbooks = Path(run(installed / "venv/bin/python", "-c", code, folder=installed, home=installed).strip())
    assert playbooks.is_relative_to(installed)
    ansible = installed / "venv/bin/ansible-playbook"
    said = run(ansible, "--syntax-check", "-i", "localhost,", "site.yml", folder=playbooks, home=installed)
    assert "playbook: site.yml" in said
