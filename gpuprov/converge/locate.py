"""Where the playbooks are: beside the package in a checkout, inside it in an installed wheel."""

from pathlib import Path

from gpuprov.model.diagnostic import Diagnostic, GpuprovError

_PACKAGE = Path(__file__).resolve().parent.parent


def find_playbooks(package: Path = _PACKAGE) -> Path:
    """Return the folder that holds site.yml.

    Args:
        package: the folder of the package gpuprov.

    Raises:
        GpuprovError: GP-INT-001 when the installation is incomplete.
    """
    # An installed wheel carries its own; the folder beside a site-packages is nobody's.
    for folder in (package / "_data" / "playbooks", package.parent / "playbooks"):
        if (folder / "site.yml").is_file():
            return folder
    raise GpuprovError(
        Diagnostic(
            code="GP-INT-001",
            summary="the playbooks are not where gpuprov is installed",
            detail=f"looked in {package}/_data/playbooks and {package.parent}/playbooks",
            hint="install gpuprov again",
        )
    )
