"""The folder that the engine works in: backend, passphrase, settings, and the program of `stacks/aws`."""

import asyncio
import importlib
import os
import secrets
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
from gpuprov.cloud.state import PROJECT, read_deployment, state_file
from gpuprov.cloud.types import Document, StackPlace
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.store.files import make_folder, sync_folder

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_MODULES: Final = ("ec2", "ebs", "iam", "s3", "vpc")
"""Parts of pulumi_aws that `stacks/aws` uses; they load themselves at first use, and not safely in several threads."""

_CLOSING: Final = 1.0
"""Seconds for the SDK to close its own event loop."""
_PASSPHRASE: Final = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
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
        GpuprovError: GP-DOC-007 when a folder or the passphrase's file cannot be made.
    """
    work = place.folder / "work" / place.name
    backend = place.folder / "state"
    for folder in (place.folder, backend, work):
        make_folder(folder)
    place.folder.chmod(0o700)
    workspace = LastingWorkspace(
        work_dir=str(work),
        program=program,
        project_settings=ProjectSettings(name=PROJECT, runtime="python"),
        env_vars={
            **place.environment,
            **passphrase_variables(place.folder, os.environ),
            "PULUMI_BACKEND_URL": backend.absolute().as_uri(),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            # The plugin is looked for before (`plugins.py`): the engine alone would try its download five times.
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "NO_COLOR": "1",
        },
        pulumi_command=command,
    )
    _settle_settings(workspace, place)
    return workspace


def passphrase_variables(folder: Path, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Say how the engine gets the passphrase: from the user's own variable, else from a file that is made here once.

    Raises:
        GpuprovError: GP-DOC-007 when the file cannot be made.
    """
    if any(name in environment for name in _PASSPHRASE):
        return {}
    path = folder / "passphrase"
    try:
        # Under its own name only when it is whole: a half-written one would lock the state for ever.
        if not path.exists():
            beside = folder / f".passphrase.{secrets.token_hex(6)}.tmp"
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_urlsafe(32))
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(beside, path)  # Whoever comes second takes the first one's.
            except FileExistsError:
                pass
            finally:
                beside.unlink()
            sync_folder(folder)
    except OSError as error:
        raise GpuprovError(
            Diagnostic(
                code="GP-DOC-007",
                address=str(path),
                summary=f"cannot write {path}: {(error.strerror or str(error)).lower()}",
                hint="check the folder, or give the passphrase yourself in PULUMI_CONFIG_PASSPHRASE",
            )
        ) from error
    return {"PULUMI_CONFIG_PASSPHRASE_FILE": str(path.absolute())}


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


def _settle_settings(workspace: LastingWorkspace, place: StackPlace) -> None:
    """Keep the stack's settings: its region, and the salt that its passphrase belongs to."""
    try:
        settings = workspace.stack_settings(place.name)
    except FileNotFoundError:
        settings = StackSettings(encryption_salt=_salt(read_deployment(place)))
    config: dict[str, Any] = dict(settings.config or {})
    if config.get("aws:region") == place.region and state_file(place).exists():
        return
    settings.config = {**config, "aws:region": place.region}
    workspace.save_stack_settings(place.name, settings)


def _salt(deployment: Mapping[str, Any] | None) -> str | None:
    """The salt that the state was encrypted with: without it a lost work folder would accept any passphrase."""
    providers = (deployment or {}).get("secrets_providers") or {}
    salt = (providers.get("state") or {}).get("salt")
    return salt if providers.get("type") == "passphrase" and isinstance(salt, str) else None
