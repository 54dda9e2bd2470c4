"""Where a stack's state lies when it is kept in files."""

from pathlib import Path

from gpuprov.cloud.files import LocalFiles
from gpuprov.cloud.state_names import state_name
from gpuprov.cloud.types import StackPlace


def state_file(place: StackPlace) -> Path:
    """The file that holds a stack."""
    return LocalFiles(place.folder).path(state_name(place))
