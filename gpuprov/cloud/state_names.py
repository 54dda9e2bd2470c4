"""How the engine's backend and gpuprov name the files of a stack."""

from pathlib import PurePosixPath
from typing import Final

from gpuprov.cloud.files import StateFiles
from gpuprov.cloud.types import StackPlace

PROJECT: Final = "gpuprov-aws"
STACKS: Final = f".pulumi/stacks/{PROJECT}"


def state_name(place: StackPlace) -> str:
    """The file that holds a stack."""
    return f"{STACKS}/{place.name}.json"


def attributes_names(place: StackPlace) -> tuple[str, ...]:
    """The files of attributes that the engine keeps in a folder, beside those that it reads before it does anything."""
    return tuple(f"{name}.attrs" for name in (state_name(place), f"{state_name(place)}.bak", ".pulumi/meta.yaml"))


def packed_name(place: StackPlace) -> str:
    """The same where a person has the engine compress its files (PULUMI_DIY_BACKEND_GZIP)."""
    return f"{state_name(place)}.gz"


def is_kept(place: StackPlace) -> bool:
    """Whether there is a stack of this name."""
    return place.files.changed(state_name(place)) is not None


def stacks_in(files: StateFiles) -> tuple[str, ...]:
    """Names of the stacks that are kept in one place."""
    paths = (PurePosixPath(name) for name in files.names(STACKS))
    return tuple(path.stem for path in paths if path.suffix == ".json")


def locks_folder(place: StackPlace) -> str:
    """Where the engine locks a stack."""
    return f".pulumi/locks/organization/{PROJECT}/{place.name}"


def engine_backups(place: StackPlace) -> str:
    """Where the engine keeps a copy after each update."""
    return f".pulumi/backups/{PROJECT}/{place.name}"


def engine_history(place: StackPlace) -> str:
    """Where the engine keeps what each update was, and its checkpoint."""
    return f".pulumi/history/{PROJECT}/{place.name}"


def own_backups(place: StackPlace) -> str:
    """Where gpuprov keeps a copy from before each update."""
    return f"backups/{place.name}"
