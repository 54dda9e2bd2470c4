"""The value and the default of a field in words, for the reference pages and `explain`."""

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Union, get_args, get_origin

from gpuprov.spec.about import About
from gpuprov.spec.fields import SpecField
from gpuprov.spec.scalars import CHECKS


def value_words(field: SpecField) -> str:
    """What may be written: `open or proprietary`, `number from 1 to 64`, `mapping or null`; choices in backquotes."""
    hint, about = field.hint, field.about
    if about.not_yet:
        return "not yet"
    if about.over:
        return f"mapping, laid over `{about.over}`"
    if about.choices:
        built = " or ".join(f"`{choice}`" for choice in about.choices if choice not in about.later)
        return f"list of {built}" if get_origin(hint) is tuple else built
    if get_origin(hint) in {types.UnionType, Union}:
        inner = next(member for member in get_args(hint) if member is not type(None))
        none = f" or `{about.none_word or 'null'}`" if about.null else ""
        return _words_of(inner, about) + none
    return _words_of(hint, about)


def default_words(field: SpecField) -> str:
    """The default in backquotes, `required`, or nothing where the default is empty."""
    if field.required:
        return "required"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return f"`{field.default}`" if isinstance(field.default, str | int) and field.default != "" else ""


def _words_of(hint: Any, about: About) -> str:
    words = {int: f"number from {about.minimum} to {about.maximum}", bool: "true or false"}
    if get_origin(hint) is tuple:
        inner = get_args(hint)[0]
        alone = ", or one alone" if about.single else ""
        return "list of mappings" if is_dataclass(inner) else f"list: {CHECKS[about.check].expected}{alone}"
    if get_origin(hint) is Mapping or is_dataclass(hint):
        return "mapping"
    return words.get(hint, CHECKS[about.check].expected)
