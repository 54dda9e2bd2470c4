"""Where the files of a site are: beside its spec, in `.gpuprov`."""

from pathlib import Path
from typing import Final

FOLDER: Final = ".gpuprov"


def site_folder(spec: str | Path) -> Path:
    """The folder `.gpuprov` of the site that a spec describes."""
    return Path(spec).resolve().parent / FOLDER


def runs_folder(site: Path) -> Path:
    """Where the journals of a site's runs are."""
    return site / "runs"


def lock_path(site: Path) -> Path:
    """The file that a run holds."""
    return site / "lock"
