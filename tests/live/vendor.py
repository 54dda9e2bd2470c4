"""NVIDIA's own repositories: the signing key that the catalog names, fetched and compared by its fingerprint."""

from pathlib import Path

import pytest

from gpuprov.catalog.find import repository
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.sources.fetch import Fetcher
from gpuprov.sources.keys import fingerprints, read_keys


def vendor_url(os_name: str) -> str:
    """The repository for amd64."""
    row = repository(os_name)
    assert row is not None, f"the catalog has no row for {os_name}"
    assert row.url, f"the catalog has no URL for {os_name}"
    return f"{row.url}x86_64/"


def vendor_key(os_name: str, cache: Path) -> bytes:
    """The repository's key as NVIDIA publishes it; the check fails when it is not the one that the catalog names."""
    row = repository(os_name)
    assert row is not None, f"the catalog has no row for {os_name}"
    key = None
    try:
        key = Fetcher(cache=cache).release(f"{vendor_url(os_name)}{row.key_file}", "nvidia")
    except GpuprovError as error:
        trouble = error.diagnostics[0].summary
    else:
        trouble = ""
    if trouble:
        pytest.fail(f"NVIDIA's own servers must be reachable for this check: {trouble}", pytrace=False)
    assert key is not None, f"NVIDIA publishes no key {row.key_file} for {os_name} (any more)"
    found = [fingerprint.upper() for fingerprint in fingerprints(read_keys(key, "nvidia"))]
    assert found == [row.fingerprint], f"the key {row.key_file} of {os_name} is not the one of the catalog"
    return key
