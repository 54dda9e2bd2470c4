"""The host as it was found, as a want: it meets that want, and going back to it takes away what gpuprov brought."""

from host_builders import edit, fresh, make_want, satisfied

from gpuprov.compare.compare import compare_want
from gpuprov.model.fact import Known
from gpuprov.want.expectations import expectations
from gpuprov.want.found import found_want
from gpuprov.want.owned import owned_of
from gpuprov.want.read import read_want, want_text
from gpuprov.want.types import Owned

WANT = make_want()
OLD = {
    'package["libcuda1"].version': Known("570.1-1"),
    "stack.driver.on_disk": Known("570.1"),
    "stack.driver.loaded": Known("570.1"),
    "stack.driver.nvml": Known("570.1"),
}


def test_a_host_without_any_of_the_packages_has_nothing_to_go_back_to() -> None:
    assert found_want(WANT, fresh(WANT), Owned()) is None


def test_a_foreign_host_is_what_it_was_found_as() -> None:
    host = edit(satisfied(WANT), OLD)
    found = found_want(WANT, host, Owned())
    assert found is not None
    versions = {package.name: package.version for package in found.pool.packages}
    assert versions["libcuda1"] == "570.1-1"
    assert set(versions) == {package.name for package in WANT.pool.packages}
    assert found.pool.driver is not None
    assert (found.pool.driver.version, found.pool.on_disk) == ("570.1", "570.1")
    assert (found.pool.files, found.pool.sources, found.pool.verify) == ((), (), ())
    assert found.digest != WANT.digest
    assert read_want(want_text(found), "h") == found
    assert compare_want(expectations(found, Owned()), host) == ()


def test_files_of_ours_that_were_there_before_stay_part_of_it() -> None:
    texts = {f'file["{path}"].text': Known(text) for source in WANT.pool.sources for path, text in source.files}
    host = edit(satisfied(WANT), texts)
    owned = owned_of(host)
    assert isinstance(owned, Owned)
    found = found_want(WANT, host, owned)
    assert found is not None
    assert {file.path for file in found.pool.files} >= set(owned.files)
    assert compare_want(expectations(found, owned), host) == ()


def test_a_text_in_which_a_secret_was_replaced_is_not_taken_for_the_file() -> None:
    host = satisfied(WANT)
    owned = owned_of(host)
    assert isinstance(owned, Owned)
    path = min(owned.files)
    found = found_want(WANT, edit(host, {f'file["{path}"].text': Known("***")}), owned)
    assert found is not None
    assert path not in {file.path for file in found.pool.files}


def test_a_package_that_dpkg_left_half_configured_is_nothing_to_go_back_to() -> None:
    found = found_want(WANT, edit(satisfied(WANT), {'package["libcuda1"].state': Known("half-configured")}), Owned())
    assert found is not None
    assert "libcuda1" not in {package.name for package in found.pool.packages}
