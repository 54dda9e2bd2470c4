"""The modules of the play import their helpers as Ansible ships them; here the same names lead to the checkout."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import ansible.module_utils
import pytest

PLAYBOOKS = Path(__file__).parents[3] / "playbooks"
PLUGINS = PLAYBOOKS / "plugins"
if str(PLUGINS / "module_utils") not in ansible.module_utils.__path__:
    ansible.module_utils.__path__.append(str(PLUGINS / "module_utils"))


@pytest.fixture
def load() -> Callable[[str], ModuleType]:
    """Import a module of the play by its name."""

    def importer(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"play_{name}", PLUGINS / "modules" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return importer


@pytest.fixture
def run_module() -> Callable[..., dict[str, Any]]:
    """Run a module in its own process, as Ansible does; returns what it printed."""

    def run(name: str, *, check: bool = False, diff: bool = False, **params: object) -> dict[str, Any]:
        arguments = {"ANSIBLE_MODULE_ARGS": {**params, "_ansible_check_mode": check, "_ansible_diff": diff}}
        code = (
            "import sys, runpy, ansible.module_utils as u; u.__path__.append(sys.argv[1]);"
            "import ansible.module_utils.basic as b; b._ANSIBLE_PROFILE = 'legacy';"
            "b._ANSIBLE_ARGS = sys.stdin.buffer.read(); runpy.run_path(sys.argv[2], run_name='__main__')"
        )
        argv = [sys.executable, "-c", code, str(PLUGINS / "module_utils"), str(PLUGINS / "modules" / f"{name}.py")]
        done = subprocess.run(argv, input=json.dumps(arguments), capture_output=True, text=True, check=False)
        assert done.stdout.strip(), done.stderr
        return dict(json.loads(done.stdout.strip().splitlines()[-1]))

    return run
