"""Tiny indexes from rows of data."""

from collections.abc import Callable

import pytest
import stanza_rows

from gpuprov.lock.index import MemoryIndex


@pytest.fixture
def index_of() -> Callable[[stanza_rows.Rows], MemoryIndex]:
    """Make an Index: for each source a list of rows such as `{is: "libc6 2.36-9", depends: "libgcc-s1"}`."""
    return stanza_rows.index_of
