"""The one place where moto's own methods are wrapped: a list, and a loud failure when one has vanished."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gpuprov.lab.command import failure

Around = Callable[..., Any]
"""Called as `around(original, self, *args, **kwargs)`."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A method of moto that the lab wraps."""

    owner: type
    """The class, as the call reaches it."""
    name: str
    """The method, or the property."""
    around: Around
    """What is called instead; for a property: `around(original, self)`."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A function in a module of moto that the lab puts its own for."""

    module: Any
    name: str
    function: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Addition:
    """A call that moto lacks, as a method of its own that answers."""

    owner: type
    name: str
    function: Callable[..., Any]


def install(
    hooks: Sequence[Hook], replacements: Sequence[Replacement] = (), additions: Sequence[Addition] = ()
) -> Callable[[], None]:
    """Wrap all, or nothing; returns what takes the wrapping off again (for tests).

    Raises:
        GpuprovError: this moto has one of them no more.
    """
    missing = [f"{hook.owner.__name__}.{hook.name}" for hook in hooks if not hasattr(hook.owner, hook.name)]
    missing += [f"{r.module.__name__}.{r.name}" for r in replacements if not hasattr(r.module, r.name)]
    if missing:
        raise failure(
            f"this moto lacks what the lab's AWS is built on: {', '.join(missing)}",
            hint="install the release of moto that the project is tested with",
            address="lab aws",
        )
    there = [f"{a.owner.__name__}.{a.name}" for a in additions if hasattr(a.owner, a.name)]
    if there:
        raise failure(
            f"this moto has itself what the lab's AWS adds: {', '.join(there)}",
            hint="install the release of moto that the project is tested with",
            address="lab aws",
        )
    undo: list[Callable[[], None]] = []
    for addition in additions:
        setattr(addition.owner, addition.name, addition.function)
        undo.append(functools.partial(delattr, addition.owner, addition.name))
    for hook in hooks:
        undo.append(_restorer(hook.owner, hook.name))
        setattr(hook.owner, hook.name, _wrapped(getattr(hook.owner, hook.name), hook.around))
    for replacement in replacements:
        undo.append(
            functools.partial(
                setattr, replacement.module, replacement.name, getattr(replacement.module, replacement.name)
            )
        )
        setattr(replacement.module, replacement.name, replacement.function)

    def take_off() -> None:
        for step in reversed(undo):
            step()

    return take_off


def _wrapped(original: Any, around: Around) -> Any:
    """Wrap a method or a property."""
    if isinstance(original, property):
        getter = original.fget
        return property(lambda self: around(getter, self))

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return around(original, self, *args, **kwargs)

    return method


def _restorer(owner: type, name: str) -> Callable[[], None]:
    """Return what puts the present attribute back; one that was inherited is uncovered again."""
    if name in vars(owner):
        return functools.partial(setattr, owner, name, vars(owner)[name])
    return functools.partial(delattr, owner, name)
