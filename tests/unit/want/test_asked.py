from host_builders import make_want

from gpuprov.model.address import split_address
from gpuprov.want.asked import asked_by
from gpuprov.want.empty import empty_want
from gpuprov.want.expectations import expectations
from gpuprov.want.host import host_want
from gpuprov.want.types import HostWant, Owned

WANT = make_want()
EMPTY = host_want(empty_want("train", "onprem", "debian-12", "amd64"), "node-1")
OWNED = Owned(packages={"htop": "1"}, files={"/etc/x": "f00"}, sources=("old",))


def members(want: HostWant, family: str, owned: Owned) -> set[str]:
    parts = [split_address(e.address) for e in expectations(want, owned)]
    return {part[1] for part in parts if part is not None and part[0] == family}


def test_everything_that_is_expected_is_asked_for() -> None:
    for want, owned in ((WANT, Owned()), (WANT, OWNED), (EMPTY, OWNED)):
        asked = asked_by(want, owned)
        assert members(want, "file", owned) <= set(asked.paths)
        assert members(want, "service", owned) <= set(asked.services)
        assert members(want, "exporter", owned) <= set(asked.exporters)


def test_a_record_with_other_paths_needs_a_second_look() -> None:
    assert asked_by(WANT).covers(asked_by(WANT, Owned(files={"/etc/motd": "f00"}, sources=("nvidia",))))
    assert not asked_by(WANT).covers(asked_by(WANT, OWNED))
    assert asked_by(WANT, OWNED).covers(asked_by(WANT))
    assert not asked_by(EMPTY).covers(asked_by(WANT))
