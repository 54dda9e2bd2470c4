"""The site, for commands that also work without a spec."""

from pathlib import Path
from typing import Final

from gpuprov.app.site import Site, open_site

_DEFAULT: Final = Path("gpuprov.yaml")


def site_if_there(path: Path) -> Site | None:
    """The site of a spec; None when nobody named a spec and there is none in this folder.

    Raises:
        GpuprovError: the spec is there, or was named, and cannot be used.
    """
    return None if path == _DEFAULT and not path.exists() else open_site(path)
