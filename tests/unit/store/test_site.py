from pathlib import Path

from gpuprov.store.site import lock_path, runs_folder, site_folder


def test_a_site_is_beside_its_spec(tmp_path: Path) -> None:
    site = site_folder(tmp_path / "gpuprov.yaml")
    assert site == tmp_path / ".gpuprov"
    assert (runs_folder(site), lock_path(site)) == (site / "runs", site / "lock")
