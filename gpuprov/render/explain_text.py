"""An explanation for people and for programs."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from gpuprov.model.facet import Cost, Facet
from gpuprov.model.status import ExitStatus
from gpuprov.reference.explain import CodeText, Explanation, FacetText, FieldText
from gpuprov.render.origin_text import origin_text, origins_body, value_text
from gpuprov.render.terminal import Terminal
from gpuprov.spec.origin import Origin

_LABEL: Final = 14
_SOURCES: Final = 3
"""Sources of a field that are shown; JSON holds all."""
_CHANGING: Final = {
    Cost.NOTHING: "costs nothing by itself; what it belongs to may restart, or need a reboot",
    Cost.OBSERVED: "is not done by gpuprov",
}
_COMMAND: Final = 400
"""Characters of a collector's command that are shown; JSON holds all of it."""


def show_explanation(
    explanation: Explanation, origins: Sequence[Origin], terminal: Terminal, *, command: str, unsound: bool
) -> None:
    """Print what is known of a name: as a field, as a facet, as a code, and what lies below it."""
    parts = []
    if explanation.field is not None:
        parts.append(_field(explanation, explanation.field, origins, unsound=unsound))
    if explanation.facet is not None:
        parts.append(_facet(explanation.facet, command))
    if explanation.facets:
        parts.append([_heading("facets", "explain one of them by its address"), *map(_facet_line, explanation.facets)])
    if explanation.codes:
        parts.append(_codes(explanation.codes))
    for number, lines in enumerate(parts):
        if number:
            terminal.out.print()
        for line in lines:
            terminal.out.print(line)


def explanation_body(explanation: Explanation, origins: Sequence[Origin], *, command: str) -> dict[str, object]:
    """The explanation as JSON values."""
    field, facet = explanation.field, explanation.facet
    return {
        "subject": explanation.subject,
        "field": None if field is None else _field_body(field, origins),
        "facet": None
        if facet is None
        else {**_facet_body(facet.facet), "fields": list(facet.fields), "command": command},
        "facets": [_facet_body(row) for row in explanation.facets],
        "codes": [
            {"code": c.code, "group": c.group, "status": int(c.status), "title": c.title, "rule": _rule_body(c)}
            for c in explanation.codes
        ],
    }


def _rule_body(code: CodeText) -> dict[str, object] | None:
    if code.rule is None:
        return None
    return {
        "asks": code.rule.asks,
        "reads": code.rule.reads,
        "catalog": {place: list(sources) for place, sources in code.basis},
        "satisfies": code.rule.satisfies,
    }


def _field_body(field: FieldText, origins: Sequence[Origin]) -> dict[str, object]:
    effect = field.effect
    return {
        "address": field.pattern,
        "text": field.text,
        "value": field.value,
        "default": field.default,
        "example": field.example,
        "keys": dict(field.keys),
        "becomes": list(effect.facets) if effect else [],
        "cost": effect.cost.value if effect else None,
        "change": effect.change if effect else "",
        "here": origins_body(origins),
    }


def _facet_body(facet: Facet) -> dict[str, object]:
    return {
        "address": facet.pattern,
        "want": facet.want,
        "collector": facet.collector,
        "comparator": facet.comparator,
        "class": facet.parity.value,
        "rule": facet.rule,
        "cost": facet.cost.value,
        "reason": facet.reason,
    }


def _field(explanation: Explanation, field: FieldText, origins: Sequence[Origin], *, unsound: bool) -> Iterable[Text]:
    if field.pattern:
        yield _heading(explanation.subject, "a field of the spec")
        yield Text(f"  {field.text}")
        yield from _rows(("value", field.value), ("default", field.default), ("example", field.example))
    else:
        yield _heading("fields of the spec", "explain one of them by its address")
    for origin in origins:
        name = "" if origin.address == explanation.subject else f"{origin.address} = "
        yield from _rows(("here", f"{name}{value_text(origin)}  {origin_text(origin)}"))
    if unsound:
        yield from _rows(("here", "the spec is not sound: `gpuprov validate` says why"))
    if field.effect is not None:
        yield from _rows(
            ("becomes", ", ".join(field.effect.facets) or "nothing on a host"),
            ("changing", field.effect.change),
            ("costs", field.effect.cost.value),
        )
    width = max((len(address) for address, _ in field.keys), default=0)
    for address, text in field.keys:
        yield Text(f"    {address.ljust(width)}  {text}")


def _facet(text: FacetText, command: str) -> Iterable[Text]:
    facet = text.facet
    yield _heading(facet.pattern, "a facet of a host" if facet.want else "a fact of a host, observed only")
    yield Text(f"  {facet.reason}")
    shown = command if len(command) <= _COMMAND else f"{command[:_COMMAND]}..."
    compared = f"{facet.comparator}, by the rule {facet.rule}" if facet.rule else facet.comparator
    yield from _rows(
        ("wanted by", ", ".join(text.fields)),
        ("observed", f"by the collector {facet.collector}"),
        ("command", " ".join(shown.split())),
        ("compared", compared),
        ("class", facet.parity.value),
        ("changing", _CHANGING.get(facet.cost, f"takes a {facet.cost.value}")),
    )


def _facet_line(facet: Facet) -> Text:
    return Text(f"  {facet.pattern.ljust(32)}  {facet.parity.value.ljust(18)}  {facet.reason}")


def _codes(codes: Sequence[CodeText]) -> Iterable[Text]:
    if len(codes) == 1:
        code = codes[0]
        yield _heading(code.code, f'an error of the group "{code.group}"' if code.rule is None else "a rule")
        yield Text(f"  {code.title}")
        yield from _rows(("status", f"{int(code.status)}: {_words(code.status)}"))
        yield from _rule(code)
        return
    yield _heading("codes", "with the exit status of an error")
    for code in codes:
        yield Text(f"  {code.code.ljust(14)}  {str(int(code.status)).rjust(2)}  {code.title}")


def _rule(code: CodeText) -> Iterable[Text]:
    if code.rule is None:
        return
    yield from _rows(("asks", code.rule.asks), ("reads", code.rule.reads))
    for place, sources in code.basis:
        more = f"; and {len(sources) - _SOURCES} more: `gpuprov catalog show`" if len(sources) > _SOURCES else ""
        yield from _rows(("catalog", f"{place}: {'; '.join(sources[:_SOURCES])}{more}"))
    yield from _rows(("satisfied by", code.rule.satisfies))


def _words(status: ExitStatus) -> str:
    return status.name.lower().replace("_", " ")


def _heading(name: str, what: str) -> Text:
    text = Text(name, style="name")
    text.append(f"  {what}", style="quiet")
    return text


def _rows(*rows: tuple[str, str]) -> Iterable[Text]:
    for label, value in rows:
        if value:
            yield Text.assemble((f"  {label.ljust(_LABEL)}", "quiet"), value)
