"""The order of the archive's own versions is dpkg's, and what dpkg takes for a version is one."""

import random
import subprocess

import pytest
from differential import Archive

from gpuprov.model.version import compare, sort_key

PAIRS = 400
WORDS = {-1: "lt", 0: "eq", 1: "gt"}

pytestmark = [pytest.mark.network, pytest.mark.timeout(240)]


def test_real_versions_are_ordered_as_dpkg_orders_them(archive: Archive) -> None:
    source = random.Random(4)  # noqa: S311 - a test's draw
    names = source.sample(archive.names, 3000)
    versions = sorted({s.version for name in names for s in archive.index.stanzas(name)}, key=sort_key)
    # Neighbours in our order are the hard ones; any two are drawn as well.
    near = [(place, place + 1) for place in source.sample(range(len(versions) - 1), PAIRS // 2)]
    far = [(source.randrange(len(versions)), source.randrange(len(versions))) for _ in range(PAIRS // 2)]
    wrong = []
    for first, second in near + far:
        a, b = versions[first], versions[second]
        argv = ["dpkg", "--compare-versions", a, WORDS[compare(a, b)], b]
        if subprocess.run(argv, check=False, timeout=10).returncode:
            wrong.append((a, b))
    assert wrong == []
