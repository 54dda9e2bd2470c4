import types
from typing import Any

import pytest

from gpuprov.lab.aws.hooks import Hook, Replacement, install
from gpuprov.model.diagnostic import GpuprovError


class Base:
    def inherited(self, number: int) -> int:
        return number

    @property
    def shown(self) -> str:
        return "plain"


class Owner(Base):
    def own(self, number: int, *, more: int = 0) -> int:
        return number + more


def twice(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    return 2 * original(self, *args, **kwargs)


def test_methods_and_properties_are_wrapped_and_uncovered_again() -> None:
    module = types.SimpleNamespace(__name__="module", give=lambda: 1)
    take_off = install(
        [
            Hook(Owner, "own", twice),
            Hook(Owner, "own", twice),
            Hook(Owner, "inherited", twice),
            Hook(Owner, "shown", lambda getter, self: getter(self) + "!"),
        ],
        [Replacement(module, "give", lambda: 7)],
    )
    owner = Owner()
    assert (owner.own(1, more=2), owner.inherited(4), owner.shown, module.give()) == (12, 8, "plain!", 7)
    assert Base().inherited(4) == 4, "the class above is as it was"
    take_off()
    assert (owner.own(1, more=2), owner.inherited(4), owner.shown, module.give()) == (3, 4, "plain", 1)
    assert "inherited" not in vars(Owner)


def test_what_has_vanished_is_named_and_nothing_is_wrapped() -> None:
    module = types.SimpleNamespace(__name__="module")
    with pytest.raises(GpuprovError) as caught:
        install([Hook(Owner, "own", twice), Hook(Owner, "gone", twice)], [Replacement(module, "lost", int)])
    assert "Owner.gone, module.lost" in caught.value.diagnostics[0].summary
    assert Owner().own(1) == 1
