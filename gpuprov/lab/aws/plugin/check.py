"""Check: inputs are compared, completed with what the real provider fills in, and refused where they are wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpuprov.lab.aws.plugin import naming, rules, schema, table, wire
from gpuprov.lab.aws.plugin.schema import Refused


def check(
    token: str, news: wire.Values, *, olds: Mapping[str, Any], logical: str, seed: bytes, region: str
) -> tuple[wire.Values, tuple[Refused, ...]]:
    """Return the inputs to keep in the state, and why they are refused (empty when they are not).

    Args:
        token: the resource's type.
        news: inputs of the program, with secrets marked.
        olds: inputs that the state holds; empty for a new resource.
        logical: the resource's logical name.
        seed: the engine's random seed for names.
        region: the region of the provider's configuration.
    """
    plain = wire.plain(news)
    refused = schema.check_inputs(token, plain)
    if not refused:
        refused = tuple(_not_implemented(token, plain))
    if refused:
        return news, refused
    filled = _defaults(token, plain, olds=olds, logical=logical, seed=seed, region=region)
    completed = {**news, **filled, wire.DEFAULTS: sorted(filled)}
    return completed, rules.refused_by_provider(token, wire.plain(completed))


def _not_implemented(token: str, inputs: Mapping[str, Any]) -> Iterator[Refused]:
    """Refuse what pulumi_aws knows and this plugin does not: it must not take what it does not do."""
    rows = table.properties(token)
    if not rows:
        yield Refused(property="", reason=f"{token} is not implemented by the lab's AWS plugin")
        return
    for name, value in inputs.items():
        if name not in rows:
            yield Refused(property=name, reason="is not implemented by the lab's AWS plugin")
            continue
        known = {row.partition(".")[2] for row in rows if row.startswith(f"{name}.")}
        for entry in (value if isinstance(value, list) else [value]) if known else ():
            for nested in entry.keys() - known if isinstance(entry, Mapping) else ():
                yield Refused(property=f"{name}.{nested}", reason="is not implemented by the lab's AWS plugin")


def _defaults(
    token: str, inputs: Mapping[str, Any], *, olds: Mapping[str, Any], logical: str, seed: bytes, region: str
) -> wire.Values:
    """Return what the real provider fills in: the region, its own defaults, and a name."""
    filled: wire.Values = {}
    was_filled = set(olds.get(wire.DEFAULTS, []))
    for name, row in table.properties(token).items():
        if inputs.get(name) is not None or "." in name:
            continue
        if name == "region":
            filled[name] = region
        elif row.default is not None:
            filled[name] = row.default
        elif row.autoname is not None:
            old = wire.plain(olds) if name in was_filled else {}
            filled[name] = naming.autoname(row, logical, seed, old)
    return filled
