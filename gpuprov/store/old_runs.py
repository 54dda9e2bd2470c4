"""Runs of long ago: the folder of a site's runs does not grow for ever."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Final

from gpuprov.store.site import runs_folder

KEEP: Final = 50
"""So many of a site's newest runs stay, whatever they did."""
KEEP_OF_HOST: Final = 10
"""So many of the newest runs that had a host in their plan stay: as many as a host keeps itself for `rollback --to`
(playbooks/plugins/module_utils/gpuprov_runs.py, KEEP), so that each that can be gone back to can be read here."""


def prune_runs(site: Path, *, but: str) -> tuple[str, ...]:
    """Delete the runs that nobody can need any more, the oldest ones.

    A rollback reads what it needs from the hosts themselves; `up --resume` goes on with the newest run only.

    Args:
        site: the folder `.gpuprov`; this process holds it.
        but: the run that has just begun.

    Returns:
        A sentence for each run that could not be deleted.
    """
    folder = runs_folder(site)
    # Also one without a journal: a run was killed while it deleted it.
    runs = sorted((path for path in folder.iterdir() if path.is_dir() and path.name != but), reverse=True)
    seen: Counter[str] = Counter()
    trouble = []
    for number, run in enumerate(runs, start=2):
        hosts = [path.name for path in (run / "wants").glob("*.json")]
        seen.update(hosts)
        if number <= KEEP or any(seen[host] <= KEEP_OF_HOST for host in hosts):
            continue
        try:
            shutil.rmtree(run)
        except OSError as error:
            trouble.append(f"the old run {run.name} cannot be deleted: {error.strerror or error}")
    return tuple(trouble)
