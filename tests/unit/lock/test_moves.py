"""What moved between two locks: packages of pools, and base images."""

from gpuprov.lock.moves import Move, moves
from gpuprov.lock.types import Lock, LockedImage, LockedPool
from gpuprov.model.package import PackageRow


def lock_of(versions: dict[str, dict[str, str]], *images: LockedImage) -> Lock:
    pools = {
        pool: LockedPool(
            pool=pool,
            os="debian-12",
            arch="amd64",
            requests=(),
            packages=tuple(
                PackageRow(name=name, version=version, arch="amd64", source="nvidia", sha256="0")
                for name, version in rows.items()
            ),
            bounds=(),
            driver="",
        )
        for pool, rows in versions.items()
    }
    return Lock(spec_inputs="", catalog_inputs={}, sources=(), pools=pools, images=images, digest="")


def image(number: int, region: str = "us-east-1") -> LockedImage:
    name = f"debian-12-amd64-2026110{number}-1"
    return LockedImage(os="debian-12", arch="amd64", region=region, owner="1", name=name, id=f"ami-{number}")


def test_the_same_move_of_two_pools_is_one() -> None:
    before = lock_of({"a": {"x": "1", "gone": "1"}, "b": {"x": "1"}})
    after = lock_of({"a": {"x": "2"}, "b": {"x": "2"}})
    assert moves(before, after) == (
        Move(name="gone", pools=("a",), before="1", after="", source="nvidia"),
        Move(name="x", pools=("a", "b"), before="1", after="2", source="nvidia"),
    )


def test_a_base_image_that_moves_is_told_with_both_ids() -> None:
    (move,) = moves(lock_of({"a": {}}, image(1)), lock_of({"a": {}}, image(2)))
    assert move == Move(
        name="base image debian-12 amd64",
        pools=("a",),
        before="ami-1 (debian-12-amd64-20261101-1)",
        after="ami-2 (debian-12-amd64-20261102-1)",
        source="us-east-1",
        why="--upgrade",
    )


def test_a_base_image_comes_goes_and_stays() -> None:
    without, one = lock_of({"a": {}}), lock_of({"a": {}}, image(1))
    assert [(m.before, m.after != "") for m in moves(without, one)] == [("", True)]
    assert [(m.before != "", m.after) for m in moves(one, without)] == [(True, "")]
    assert moves(one, one) == ()
    assert [m.source for m in moves(one, lock_of({"a": {}}, image(1, "eu-west-1")))] == ["eu-west-1"]
    assert [m.after != "" for m in moves(None, one)] == [True]
