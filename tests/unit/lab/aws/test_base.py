from pathlib import Path

import pytest
import yaml

from gpuprov.lab.aws import base
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress


def test_the_configuration_is_one_that_cloud_init_reads() -> None:
    told = yaml.safe_load(base.CONFIGURATION)
    assert told["datasource_list"] == ["Ec2", None] or told["datasource_list"] == ["Ec2", "None"]
    assert told["datasource"]["Ec2"]["strict_id"] is False
    assert told["network"] == {"config": "disabled"}
    assert told["system_info"]["default_user"]["name"] == "admin"
    assert told["system_info"]["default_user"]["sudo"] == ["ALL=(ALL) NOPASSWD:ALL"]
    assert "datasource_list: [ Ec2, None ]\n" in base.CONFIGURATION  # ds-identify reads this one line, and no YAML


def test_the_digest_changes_with_everything_that_a_cloud_base_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {base.recipe_digest()}
    for name, value in (("RECIPE", 99), ("PACKAGES", ("more",)), ("CONFIGURATION", "{}")):
        monkeypatch.setattr(base, name, value)
        digests.add(base.recipe_digest())
    assert len(digests) == 4


def test_a_cloud_base_belongs_to_its_base_and_a_failed_build_leaves_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(base, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(base, "ensure_base", lambda _os, _report: tmp_path / "base-debian-12-aaaa")
    place = tmp_path / f"cloud-debian-12-aaaa-{base.recipe_digest()}"

    def fail(_os: str, _base: Path, place: Path, _report: object) -> None:
        place.with_name(f".{place.name}.building").mkdir()
        raise GpuprovError

    monkeypatch.setattr(base, "_build", fail)
    with pytest.raises(GpuprovError):
        base.ensure_cloud_base("debian-12", ignore_progress)
    assert not place.exists()
    place.mkdir()
    assert base.ensure_cloud_base("debian-12", ignore_progress) == place
