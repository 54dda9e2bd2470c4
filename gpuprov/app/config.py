"""Settings of gpuprov itself, never of the stack: by flag, by variable, by the user's file, and which of them won."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from gpuprov.document.node import MappingNode, Scalar, describe_node
from gpuprov.document.yaml_text import parse_yaml
from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Span
from gpuprov.spec.suggest import did_you_mean, elsewhere
from gpuprov.store.cache import cache_folder
from gpuprov.store.files import read_text_if_there
from gpuprov.store.setting_table import BY_NAME, SETTINGS, Configuration, Resolved, Setting
from gpuprov.store.settings import CACHE, COLOUR, user_file

_NO_COLOR: Final = "NO_COLOR"
"""Any text in it switches colours off (no-color.org, seen 2026-11-30)."""
_OWN: Final = ("GPUPROV_BECOME_PASSWORD",)
"""Variables of gpuprov that are no settings; secrets are in no file of settings."""


def configure(flags: Mapping[str, str | None], environment: Mapping[str, str]) -> Configuration:
    """Find the value of every setting: a flag wins over a variable, a variable over the user's file.

    Args:
        flags: value by the setting's name; None where the flag was not given.
        environment: the process's variables.

    Raises:
        GpuprovError: GP-RUN-007 for each setting that is unknown or has a value that it cannot have, in all layers;
            GP-DOC codes when the file cannot be read.
    """
    file = user_file(environment)
    text = read_text_if_there(file)
    problems: list[Diagnostic] = []
    written = {} if text is None else dict(_written(text, file, problems))
    found = [_resolve(setting, flags, environment, written, problems) for setting in SETTINGS]
    if problems:
        raise GpuprovError(*problems)
    return Configuration(
        file=file, there=text is not None, settings=tuple(found), strangers=tuple(_strangers(environment))
    )


def _resolve(
    setting: Setting,
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    written: Mapping[str, Scalar],
    problems: list[Diagnostic],
) -> Resolved:
    node, variable, name = written.get(setting.name), environment.get(setting.variable), setting.variable
    if setting.variable == COLOUR and not variable and environment.get(_NO_COLOR):
        variable, name = "never", _NO_COLOR
    span = node.span if node else None
    layers = (
        ("file", node.text if node else None, f"{span.file}:{span.line}" if span else "", span),
        ("variable", variable or None, name, None),
        ("flag", flags.get(setting.name), setting.flag, None),
    )
    result = _default(setting, environment)
    for layer, text, place, span in layers:
        if text is None:
            continue
        try:
            result = Resolved(setting=setting, value=setting.read(text, here=layer != "file"), layer=layer, place=place)
        except ValueError as error:
            problems.append(_wrong(setting, str(error), place, span))
    return result


def _default(setting: Setting, environment: Mapping[str, str]) -> Resolved:
    plain = setting.default if setting.choices or setting.bounds else ""
    value = str(cache_folder(environment)) if setting.variable == CACHE else plain
    return Resolved(setting=setting, value=value, layer="default", place="")


def _written(text: str, file: Path, problems: list[Diagnostic]) -> Iterator[tuple[str, Scalar]]:
    """The values of the user's file by name; what is no setting goes to the problems."""
    if not any(line.partition("#")[0].strip() for line in text.splitlines()):
        return  # a file of comments alone sets nothing
    root = parse_yaml(text, str(file))
    if not isinstance(root, MappingNode):
        problems.append(_refused(describe_node(root) + " stands here", root.span, "write `name: value` in each line"))
        return
    for entry in root.entries:
        name = entry.key.text
        if name not in BY_NAME:
            hint = did_you_mean(name, list(BY_NAME))
            place = elsewhere(name)
            hint = hint or (f"{place}: the stack is the spec's, never a setting's" if place else "")
            problems.append(_refused(f"no setting is called {name}", entry.key.span, hint))
        elif isinstance(entry.value, Scalar) and not entry.value.is_null:
            yield name, entry.value
        elif not isinstance(entry.value, Scalar):
            what = f"{describe_node(entry.value)} stands here"
            problems.append(_refused(what, entry.value.span, f"expected: {BY_NAME[name].expected}", address=name))


def _refused(what: str, span: Span, hint: str, address: str = "") -> Diagnostic:
    detail = f"Settings: {', '.join(BY_NAME)}."
    return Diagnostic(code="GP-RUN-007", summary=what, address=address, detail=detail, hint=hint, span=span)


def _wrong(setting: Setting, what: str, place: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        code="GP-RUN-007",
        summary=what,
        address=setting.name if span else place,
        detail=f"Expected: {setting.expected}.",
        span=span,
    )


def _strangers(environment: Mapping[str, str]) -> Iterator[str]:
    known = {*_OWN, *(setting.variable for setting in SETTINGS)}
    for name in sorted(environment):
        if (
            name.startswith("GPUPROV_")
            and name not in known
            and not name.startswith(("GPUPROV_LOGIN_", "GPUPROV_TEST_", "GPUPROV_LIVE_"))
        ):
            yield name
