"""A spec that was renamed: its stack goes by the old name, and a second one would be made, and paid for, beside it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from gpuprov.app.cloud_builders import builder_name
from gpuprov.app.cloud_site import place_of
from gpuprov.app.site import Site
from gpuprov.cloud.state import HOLDING, read_state
from gpuprov.cloud.state_names import stacks_in
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import Diagnostic

_NAME: Final = re.compile(r"^name:[ \t]*[\"']?([A-Za-z0-9._-]+)", re.MULTILINE)


def refuse_renamed(site: Site) -> tuple[Diagnostic, ...]:
    """GP-CLOUD-027 for each stack of this folder that stands, and that no spec of the folder names any more.

    Meant for the moment before a stack is made for the first time; a folder may hold several specs, each with its own.

    Raises:
        GpuprovError: GP-CLOUD-013 when a state is broken: what it holds cannot be told.
    """
    place = place_of(site, {})
    names = stacks_in(place.files)
    builders = tuple(builder_name(name, "") for name in (*names, site.spec.name))
    named = _named_beside(site.path)
    return tuple(
        refused
        for name in names
        if name not in named and not name.startswith(builders)
        if (refused := _standing(name, place, site)) is not None
    )


def _standing(name: str, place: StackPlace, site: Site) -> Diagnostic | None:
    holding = sorted(
        row.address for row in read_state(replace(place, name=name)).resources.values() if row.type in HOLDING
    )
    if not holding:
        return None
    return Diagnostic(
        code="GP-CLOUD-027",
        address="name",
        summary=f"this folder holds the stack `{name}`, and no spec of that name; `{site.spec.name}` would be a second",
        detail="it holds " + ", ".join(holding),
        hint=f"write `name: {name}` back to go on with it, or to give it up by `gpuprov destroy --target cloud` first",
        span=site.spec.spans.get("name"),
    )


def _named_beside(spec: Path) -> frozenset[str]:
    files = (path for path in spec.resolve().parent.iterdir() if path.suffix in {".yaml", ".yml"} and path.is_file())
    return frozenset(
        name for path in files for name in _NAME.findall(path.read_text(encoding="utf-8", errors="replace"))
    )
