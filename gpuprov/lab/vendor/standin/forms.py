"""Recorded output forms: how a stand-in finds its own and fills them in."""

import json
import re
import sys
import zipimport
from collections.abc import Mapping

KIT = "gpuprov/lab/vendor/standin/kit.json"
"""Where the kit lies in a program's archive."""
_PLACE = re.compile(r"\{([a-z_]+)(?::([<>]?)(\d+))?\}")


class Kit:
    """What a package packed beside its program: output forms and exit statuses by form id, and some values."""

    def __init__(self, *, texts: Mapping[str, str], statuses: Mapping[str, int], data: Mapping[str, str]) -> None:
        self.texts = texts
        self.statuses = statuses
        self.data = data

    def text(self, form: str, **values: object) -> str:
        """Gives a form with its placeholders filled in."""
        return render(self.texts[form], values)

    def stop(self, form: str, **values: object) -> int:
        """Prints a form on stdout, as the real programs do even for errors, and gives its exit status."""
        sys.stdout.write(self.text(form, **values))
        return self.statuses[form]


def packed() -> Kit:
    """Gives the kit of the program that runs.

    Raises:
        RuntimeError: the program was not started from its package.
    """
    try:
        raw = zipimport.zipimporter(sys.path[0]).get_data(KIT)
    except (OSError, zipimport.ZipImportError) as error:
        raise RuntimeError(f"{KIT} is not packed beside the program") from error
    kit = json.loads(raw)
    return Kit(texts=kit["texts"], statuses=kit["statuses"], data=kit["data"])


def render(text: str, values: Mapping[str, object]) -> str:
    """Fills `{name}`, `{name:12}` (padded on the right) and `{name:>12}` (on the left); other braces stay.

    Raises:
        KeyError: a placeholder has no value. Prometheus labels are not taken for one: `{gpu="0"}` is no name in braces.
    """

    def fill(found: re.Match[str]) -> str:
        name, side, width = found.groups()
        value = str(values[name])
        if width is None:
            return value
        return value.rjust(int(width)) if side == ">" else value.ljust(int(width))

    return _PLACE.sub(fill, text)
