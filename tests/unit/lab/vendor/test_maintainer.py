import subprocess

import pytest

from gpuprov.lab.vendor.maintainer import maintainer_scripts
from gpuprov.lab.vendor.packages import described

VALUES = {"id": "580.95.05", "minor": "13.0"}


def test_a_package_without_needs_has_no_scripts() -> None:
    assert maintainer_scripts({}, VALUES) == {}


def test_a_kernel_package_installs_and_removes_its_module() -> None:
    scripts = maintainer_scripts({"module": "open"}, VALUES)
    assert "/usr/src/nvidia-580.95.05/install-module install" in scripts["postinst"]
    assert "/usr/src/nvidia-580.95.05/install-module remove" in scripts["prerm"]


@pytest.mark.parametrize(("action", "starts"), [("start", True), ("none", False)])
def test_a_unit_is_started_only_where_the_vendor_does(action: str, starts: bool) -> None:  # noqa: FBT001
    scripts = maintainer_scripts({"services": {"a.service": action}}, VALUES)
    assert ("deb-systemd-invoke start a.service" in scripts["postinst"]) is starts
    assert ("try-restart a.service" in scripts["postinst"]) is not starts
    assert "deb-systemd-invoke stop a.service" in scripts["prerm"]


def test_every_script_of_every_package_is_valid_shell() -> None:
    texts = {text for p in described("amd64") for text in maintainer_scripts(p.template, p.values).values()}
    assert len(texts) > 10
    for text in texts:
        assert "@" not in text, text
        done = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), text
