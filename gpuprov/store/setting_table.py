"""The table of gpuprov's own settings, and what a run found for them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpuprov.store import settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """As in the user's file; the flag is `--name` with hyphens."""
    variable: str
    text: str
    expected: str
    default: str
    """In words where nothing is set."""
    choices: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None
    """Least and most of a number; None for a text."""

    @property
    def flag(self) -> str:
        """The flag, before the command."""
        return "--" + self.name.replace("_", "-")

    def read(self, text: str, *, here: bool) -> str:
        """The value that a text means.

        Args:
            text: as it was written.
            here: whether a relative path is one of this folder; in the user's file it would mean many places.

        Raises:
            ValueError: what is wrong with it.
        """
        if self.choices:
            if text not in self.choices:
                raise ValueError(f"{text} is not one of {', '.join(self.choices)}")
            return text
        if self.bounds is not None:
            least, most = self.bounds
            if not re.fullmatch(r"[0-9]{1,6}", text) or not least <= int(text) <= most:
                raise ValueError(f"{text} is no number from {least} to {most}")
            return str(int(text))
        path = Path(text).expanduser()
        if not text.strip() or not (here or path.is_absolute()):
            raise ValueError(f"the path {text} is not absolute" if text.strip() else "the path is empty")
        return str(path.absolute())


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        name="apt_lock_timeout",
        variable=settings.APT_LOCK_TIMEOUT,
        text="Seconds to wait on a host for another program that holds dpkg's lock.",
        expected="a number from 1 to 7200",
        default=str(settings.APT_LOCK_SECONDS),
        bounds=(1, 7200),
    ),
    Setting(
        name="cache",
        variable=settings.CACHE,
        text="Folder of package indexes and programs; it may be deleted at any time.",
        expected="an absolute path, or one that begins with ~",
        default="$XDG_CACHE_HOME/gpuprov",
    ),
    Setting(
        name="colour",
        variable=settings.COLOUR,
        text="Whether output has colours; `auto` asks the terminal.",
        expected="auto, always or never",
        default="auto",
        choices=("auto", "always", "never"),
    ),
    Setting(
        name="forks",
        variable=settings.FORKS,
        text="Hosts that are looked at at the same time.",
        expected="a number from 1 to 256",
        default="32",
        bounds=(1, 256),
    ),
    Setting(
        name="probe_timeout",
        variable=settings.PROBE_TIMEOUT,
        text="Seconds after which one host's probe is given up.",
        expected="a number from 5 to 3600",
        default="60",
        bounds=(5, 3600),
    ),
    Setting(
        name="pulumi",
        variable=settings.PULUMI,
        text="The Pulumi engine that makes the cloud's resources.",
        expected="an absolute path, or one that begins with ~",
        default="looked for in PATH, then in the cache",
    ),
    Setting(
        name="reboot_timeout",
        variable=settings.REBOOT_TIMEOUT,
        text="Seconds in which a host must come back from its reboot.",
        expected="a number from 30 to 7200",
        default=str(settings.REBOOT_SECONDS),
        bounds=(30, 7200),
    ),
    Setting(
        name="source_timeout",
        variable=settings.SOURCE_TIMEOUT,
        text="Seconds without a byte after which a transfer from a package source is given up.",
        expected="a number from 1 to 3600",
        default="30",
        bounds=(1, 3600),
    ),
)
BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """A setting with the value that counts."""

    setting: Setting
    value: str
    """Empty where nothing is set and the default has no fixed value."""
    layer: str
    """`flag`, `variable`, `file` or `default`."""
    place: str
    """The flag, the variable, or file and line; empty for a default."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """All settings, and what was looked at."""

    file: Path
    """The user's file; it may not exist."""
    there: bool
    settings: tuple[Resolved, ...]
    strangers: tuple[str, ...]
    """Variables that look like settings and are none."""

    @property
    def variables(self) -> dict[str, str]:
        """What to put into the environment, so that lower rooms read what counts."""
        return {r.setting.variable: r.value for r in self.settings if r.layer != "default"}
