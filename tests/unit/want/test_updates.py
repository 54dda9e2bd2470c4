import re

from gpuprov.want.updates import blacklist, updates_file


def test_each_package_is_named_alone() -> None:
    patterns = blacklist(["g++", "libc6.1", "docker.io"])
    assert patterns == [r"^docker\.io$", r"^g\+\+$", r"^libc6\.1$"]
    assert [
        bool(re.match(pattern, name)) for pattern, name in zip(patterns, ["dockerxio", "g++", "libc6.1"], strict=True)
    ] == [False, True, True]
    assert r'    "^g\+\+$";' in updates_file(["g++"]).text
