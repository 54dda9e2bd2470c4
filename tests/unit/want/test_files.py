import json
import re

import pytest
from host_builders import make_want

from gpuprov.lock.types import LockedSource
from gpuprov.want.files import merge_json, runtime_file, source_want

OURS = runtime_file("docker").text


def test_foreign_keys_and_runtimes_stay() -> None:
    # A17: the operator's settings are not replaced.
    before = {
        "data-root": "/data/d",
        "hosts": ["unix:///var/run/docker.sock"],
        "log-opts": {"max-size": "10m"},
        "runtimes": {"kata": {"path": "/usr/bin/kata"}},
    }
    after = json.loads(merge_json(json.dumps(before), OURS))
    nvidia = {"args": [], "path": "nvidia-container-runtime"}
    assert after == {**before, "runtimes": {**before["runtimes"], "nvidia": nvidia}}
    assert "default-runtime" not in after


def test_no_file_of_ours_names_a_host_that_the_lock_does_not_name() -> None:
    """A51: with a mirror as the source, nothing that is written on a host leads elsewhere."""
    pool = make_want(files={"/etc/motd": "GPU host\n"}).pool
    texts = [*(file.text for file in pool.files), *(source.text for source in pool.sources)]
    found = {host for text in texts for host in re.findall(r"https?://([^/\s]+)", text)}
    assert found == {"repo.example"}


def test_a_second_merge_changes_nothing() -> None:
    once = merge_json('{"b": 1, "a": {"runtimes": 1}}', OURS)
    assert merge_json(once, OURS) == once


def test_a_missing_or_empty_file_counts_as_an_empty_object() -> None:
    assert merge_json("", OURS) == OURS
    assert merge_json(" \n", OURS) == OURS


@pytest.mark.parametrize("text", ["[]", "1", '"x"', "{", "data-root: /x"])
def test_what_is_no_object_is_not_replaced(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a JSON object|Expecting"):
        merge_json(text, OURS)


KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


@pytest.mark.parametrize(
    ("keyring", "signed_by", "written"),
    [
        ("", "/etc/apt/keyrings/gpuprov-os.asc", ["gpuprov-os.asc", "gpuprov-os.sources"]),
        # apt refuses two entries of one archive with different Signed-By, and the host has its own entry.
        (KEYRING, KEYRING, ["gpuprov-os.sources"]),
    ],
)
def test_a_key_that_the_os_brings_is_named_and_not_written(keyring: str, signed_by: str, written: list[str]) -> None:
    locked = LockedSource(
        name="os", url="http://os.example/", suite="bookworm", components=("main",), fingerprints=("A" * 40,),
        on_host=True, key_text="KEY\n", keyring=keyring,
    )  # fmt: skip
    want = source_want(locked, "amd64")
    assert f"Signed-By: {signed_by}\n" in want.text
    assert [path.rpartition("/")[2] for path, _ in want.files] == written
