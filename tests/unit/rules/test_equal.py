"""Equal sets: upstream versions count, revisions do not."""

import pytest

from gpuprov.rules.equal import check_equal


@pytest.mark.parametrize(
    ("versions", "codes"),
    [
        (["580.95.05-1", "580.95.05-1"], []),
        (["580.95.05-1", "580.95.05-2"], []),
        (["535.183.01-1", "535.230.02-1"], ["GP-RULE-007"]),  # A03
        (["1.17.8-1", "1.17.8-1", "1.18.1-1", "1.18.1-1"], ["GP-RULE-007"]),  # A21
        ([], []),
    ],
)
def test_check_equal(versions: list[str], codes: list[str]) -> None:
    packages = {f"package-{i}": version for i, version in enumerate(versions)}
    found = list(check_equal("driver", packages, "pools.train"))
    assert [a.rule for a in found] == codes
    for answer in found:
        assert all(f"{name} {version}" in answer.consequence for name, version in packages.items())
