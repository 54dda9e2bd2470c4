"""Where gpuprov keeps what can be fetched again."""

import os
from collections.abc import Mapping
from pathlib import Path

from gpuprov.store.settings import CACHE


def cache_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Give `$GPUPROV_CACHE`, `$XDG_CACHE_HOME/gpuprov`, or `~/.cache/gpuprov`; the folder may not exist yet.

    Args:
        environment: variables; None means the process's own. A relative XDG_CACHE_HOME is ignored, as the XDG Base
            Directory Specification (0.8) asks.
    """
    variables = os.environ if environment is None else environment
    own = variables.get(CACHE, "")
    if own:
        return Path(own)
    root = variables.get("XDG_CACHE_HOME", "")
    if root.startswith("/"):
        return Path(root) / "gpuprov"
    home = variables.get("HOME", "")
    return (Path(home) if home else Path.home()) / ".cache" / "gpuprov"
