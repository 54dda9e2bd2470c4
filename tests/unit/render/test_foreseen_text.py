"""What apt said of a transaction, and who would be ended, below a host's changes."""

from gpuprov.model.change import Foreseen, HostPlan
from gpuprov.render.foreseen_text import foreseen_body, foreseen_lines

FOUND = Foreseen(
    others=("libc6 2.36-9 -> 2.36-10", *(f"lib{n} absent -> 1" for n in range(7))),
    download=1_234_567_890,
    growth=12_345,
)


def lines(plan: HostPlan, *, verbose: bool = False) -> list[str]:
    return [str(line).strip() for line in foreseen_lines(plan, verbose=verbose)]


def test_what_is_fetched_what_else_moves_and_who_is_ended() -> None:
    plan = HostPlan(
        host="a", pool="p", changes=(), foreseen=FOUND, disturbs=("container llm (train, process 7 of root)",)
    )
    assert lines(plan) == [
        "apt: 1,234.6 MB to fetch, 12.3 kB more on the disk",
        "apt: also comes, as a dependency: lib0, lib1, lib2, lib3, lib4 and 2 more (--verbose names them)",
        "apt: also rises: libc6 2.36-9 -> 2.36-10",
        "ends: container llm (train, process 7 of root)",
    ]
    assert "lib6" in lines(plan, verbose=True)[1]


def test_an_apt_that_was_not_asked_is_said() -> None:
    plan = HostPlan(host="a", pool="p", changes=(), foreseen=Foreseen(untold="it is in use"))
    assert lines(plan) == ["apt was not asked: it is in use"]
    assert lines(HostPlan(host="a", pool="p", changes=())) == []


def test_programs_get_the_same() -> None:
    assert foreseen_body(FOUND) == {
        "others": list(FOUND.others),
        "download": 1_234_567_890,
        "growth": 12_345,
        "untold": "",
    }
    assert foreseen_body(None) is None
