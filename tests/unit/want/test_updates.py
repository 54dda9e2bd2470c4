import re

from gpuprov.want.updates import blacklist, updates_file


def test_one_pattern_names_each_package_and_no_other() -> None:
    (pattern,) = blacklist(["g++", "libc6.1", "docker.io"])
    assert pattern == r"^(docker\.io|g\+\+|libc6\.1)$"
    names = ["docker.io", "dockerxio", "docker.io-doc", "g++", "g", "libc6.1"]
    assert [name for name in names if re.match(pattern, name)] == ["docker.io", "g++", "libc6.1"]
    assert f'    "{pattern}";' in updates_file(["g++", "docker.io", "libc6.1"]).text
