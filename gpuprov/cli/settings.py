"""The settings of gpuprov itself, put into the environment of this process, where lower rooms read them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from gpuprov.store.settings import user_file

_PREFIX: Final = "GPUPROV_"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for before anything was put in force."""

    flags: Mapping[str, str | None]
    environment: Mapping[str, str]


def put_in_force(flags: Mapping[str, str | None]) -> Asked:
    """Check all settings and let those count that do; returns what was asked for.

    Raises:
        GpuprovError: GP-RUN-007 for each setting that is wrong, GP-DOC codes for the user's file.
    """
    asked = Asked(flags, dict(os.environ))
    set_somewhere = any(flags.values()) or any(name.startswith(_PREFIX) for name in asked.environment)
    if set_somewhere or user_file(asked.environment).exists():
        from gpuprov.app.config import configure  # noqa: PLC0415 - most runs have no settings, and need not wait for it

        os.environ.update(configure(flags, asked.environment).variables)
    return asked


@contextmanager
def settings_kept() -> Iterator[None]:
    """Give the variables of the settings back at the end as they were: a command is one run, the process may go on."""
    before = {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(_PREFIX) and name not in before]:
            del os.environ[name]
        os.environ.update(before)
