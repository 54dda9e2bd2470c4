"""The folder that the engine works in: backend, passphrase, settings, and the program of `stacks/aws`."""

import asyncio
import importlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pulumi.automation import LocalWorkspace, OutputMap, ProjectSettings, Stack, StackSettings, UpdateSummary, Workspace
from pulumi.automation._stack import StackInitMode
from pulumi.runtime import run_in_stack

from gpuprov.cloud.command import EngineCommand
from gpuprov.cloud.secrets import provider_url, refuse_other_secrets, secrets_settings, secrets_variables
from gpuprov.cloud.state import read_deployment
from gpuprov.cloud.state_names import PROJECT, is_kept
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_MODULES: Final = ("ec2", "ebs", "efs", "iam", "s3", "vpc")
"""Parts of pulumi_aws that `stacks/aws` uses; they load themselves at first use, and not safely in several threads."""

_CLOSING: Final = 1.0
"""Seconds for the SDK to close its own event loop."""
_loading: Final = threading.Lock()
_loaded: Final[dict[Path, ModuleType]] = {}


def _hush(hook: Callable[["sys.UnraisableHookArgs"], object]) -> Callable[["sys.UnraisableHookArgs"], None]:
    """Keep one thing from standard error: the SDK's own coroutine, which an engine that failed leaves half run.

    Its clean-up then finds no event loop, at some later moment (SDK 3.272, 2026-11-30); nothing is lost by that.
    """

    def hushed(told: "sys.UnraisableHookArgs") -> None:
        if getattr(told.object, "__qualname__", "") != run_in_stack.__qualname__:
            hook(told)

    return hushed


sys.unraisablehook = _hush(sys.unraisablehook)


class LastingWorkspace(LocalWorkspace):
    """A workspace of one stack that lasts: the salt of its passphrase must be the same in every run."""

    def select_stack(self, stack_name: str) -> None:
        """Do nothing: every command names its stack, and a selection would be one more start of the engine."""


class EngineStack(Stack):
    """The SDK's stack without its afterthoughts.

    After each update the SDK starts the engine three more times (1.3 s on 2026-11-30), for outputs and a history that
    the files hold as well; one of these prints secrets.
    """

    @classmethod
    def create(cls, stack_name: str, workspace: Workspace) -> "EngineStack":
        """Make the stack; it must not be there."""
        return cls(stack_name, workspace, StackInitMode.CREATE)

    @classmethod
    def select(cls, stack_name: str, workspace: Workspace) -> "EngineStack":
        """Take the stack that is there."""
        return cls(stack_name, workspace, StackInitMode.SELECT)

    def outputs(self) -> OutputMap:
        """Give none: what was made is read from the state."""
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary:  # noqa: FBT001, FBT002 (the SDK's form)
        """Give an empty summary: what was changed is known from the events."""
        del show_secrets
        return UpdateSummary(
            kind="update", start_time=datetime.now(UTC), message="", environment={}, config={}, result="succeeded"
        )


def open_workspace(place: StackPlace, command: EngineCommand, program: Callable[[], None] | None) -> LastingWorkspace:
    """Make the folders that are missing, and give the workspace.

    Args:
        place: which stack.
        command: the way to the engine.
        program: what makes the resources; None where none is run.

    Raises:
        GpuprovError: GP-DOC-007 when a folder or the passphrase's file cannot be made; GP-CLOUD-012, 061 when the
            state's secrets cannot be opened, or are under something else than the spec says.
    """
    work = place.folder / "work" / place.name
    for folder in (place.folder, place.folder / "state", work):
        make_folder(folder)
    place.folder.chmod(0o700)
    deployment = read_deployment(place)
    refuse_other_secrets(place, deployment)
    workspace = LastingWorkspace(
        work_dir=str(work),
        program=program,
        project_settings=ProjectSettings(name=PROJECT, runtime="python"),
        env_vars={
            **place.environment,
            **secrets_variables(place, os.environ, deployment),
            "PULUMI_BACKEND_URL": place.files.url,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            # The plugin is looked for before (`plugins.py`): the engine alone would try its download five times.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "NO_COLOR": "1",
        },
        secrets_provider=provider_url(place),
        pulumi_command=command,
    )
    _settle_settings(workspace, place, deployment)
    return workspace


class Program:
    """The program of `stacks/aws` with its document: what the engine calls.

    Args:
        module: `stacks/aws/program.py`.
        document: what it makes.
    """

    def __init__(self, module: ModuleType, document: Document) -> None:
        self._module = module
        self._document = document
        self._loops: list[asyncio.AbstractEventLoop] = []

    def __call__(self) -> None:
        """Make the resources; inside the SDK's event loop."""
        self._loops.append(asyncio.get_running_loop())
        self._module.program(dict(self._document))

    def close(self) -> None:
        """Close the SDK's event loop after the engine has ended: where that failed, the SDK does not (3.272)."""
        until = time.monotonic() + _CLOSING
        for loop in self._loops:
            while not loop.is_closed() and time.monotonic() < until:
                time.sleep(0.01)
            if not loop.is_running() and not loop.is_closed():
                loop.close()


def load_program(document: Document) -> Program:
    """Give the program of `stacks/aws` with its document, ready for the engine.

    Raises:
        GpuprovError: GP-INT-001 when the installation is incomplete.
    """
    return Program(_load(find_stacks() / "aws"), document)


def find_stacks(package: Path = _PACKAGE) -> Path:
    """Return the folder that holds `aws/program.py`: inside an installed wheel, or beside the package in a checkout.

    Raises:
        GpuprovError: GP-INT-001 when it is in neither.
    """
    for folder in (package / "_data" / "stacks", package.parent / "stacks"):
        if (folder / "aws" / "program.py").is_file():
            return folder
    raise GpuprovError(
        Diagnostic(
            code="GP-INT-001",
            summary="the stacks are not where gpuprov is installed",
            detail=f"looked in {package}/_data/stacks and {package.parent}/stacks",
            hint="install gpuprov again",
        )
    )


def _load(folder: Path) -> ModuleType:
    """Import the program once, with its neighbours as a Pulumi project has them: by their plain names.

    Those names (`network`, `storage`) are the project's alone: they are taken out of sys.modules again, so that nobody
    else's module of that name is met or hidden.
    """
    with _loading:
        if folder in _loaded:
            return _loaded[folder]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of classes that nobody here uses
            for part in _MODULES:
                getattr(importlib.import_module(f"pulumi_aws.{part}"), "__all__", None)  # any attribute makes it load
        names = {path.stem for path in folder.glob("*.py")}
        others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        sys.path.insert(0, str(folder))
        try:
            _loaded[folder] = importlib.import_module("program")
        finally:
            sys.path.remove(str(folder))
            for name in names:
                sys.modules.pop(name, None)
            sys.modules.update(others)
        return _loaded[folder]


def _settle_settings(workspace: LastingWorkspace, place: StackPlace, deployment: Mapping[str, Any] | None) -> None:
    """Keep the stack's settings: its region, and what its secrets belong to, which the state knows best."""
    recorded = secrets_settings(deployment)
    try:
        settings = workspace.stack_settings(place.name)
    except FileNotFoundError:
        settings = recorded or StackSettings(secrets_provider=provider_url(place))
    before = dict(vars(settings))
    if recorded is not None:
        settings.encryption_salt = recorded.encryption_salt
        settings.encrypted_key = recorded.encrypted_key
        settings.secrets_provider = recorded.secrets_provider
    settings.config = {**(settings.config or {}), "aws:region": place.region}
    if vars(settings) != before or not is_kept(place):
        workspace.save_stack_settings(place.name, settings)
