"""Real input: every row of the machine's whole archive, as apt's own lists have them."""

import re
import subprocess
from dataclasses import replace

import pytest
from differential import Archive

pytestmark = [pytest.mark.network, pytest.mark.timeout(240)]


def test_every_row_of_the_archive_is_read(archive: Archive) -> None:
    lists = sorted(str(path) for path in (archive.apt.root / "lists").glob("*_Packages*"))
    text = subprocess.run(
        ["/usr/lib/apt/apt-helper", "cat-file", *lists], capture_output=True, text=True, check=True
    ).stdout
    expected = re.findall(r"^Package: (.+)(?:\n.+)*?\nVersion: (.+)$", text, re.MULTILINE)
    index = replace(archive.index, memo={}, provided={}, mentions={})  # what is read here is not kept for the others
    stanzas = [stanza for name in archive.names for stanza in index.stanzas(name)]
    assert len(stanzas) > 60_000
    assert sorted((s.name, s.version) for s in stanzas) == sorted(expected)
