"""Pulumi's own release: its download, and a plain `pulumi preview` in stacks/aws, without gpuprov. Makes nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuprov.app.site import open_lock, open_site
from gpuprov.cloud.account import Account as ProductAccount
from gpuprov.cloud.decide.document import stack_document
from gpuprov.cloud.engine import PINNED, find_engine
from gpuprov.provision.login_keys import login_keys
from gpuprov.spec.cloud import CloudSpec
from gpuprov.store.settings import PULUMI
from tests.live.account import LiveAccount
from tests.live.site import HOST, LiveSite

pytestmark = [pytest.mark.live, pytest.mark.timeout(3600)]
STACK = "live"
_FETCH = "import pathlib, sys; from gpuprov.lab.engine.build import fetch; fetch(pathlib.Path(sys.argv[1]))"


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of Pulumi's own release, downloaded as `make` would where there is no Go."""
    target = tmp_path_factory.mktemp("engine") / "pulumi"
    # In a process of its own: Pulumi's SDK leaves a file open when its download fails, and warnings are errors here.
    argv = [sys.executable, "-c", _FETCH, str(target)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        pytest.fail(f"Pulumi's own download must be reachable for this check: {said}", pytrace=False)
    return target.resolve().parent


@pytest.mark.parametrize("how", [PULUMI, "PATH"])
def test_the_official_engine_is_found_and_accepted(official: Path, how: str) -> None:
    found = find_engine({how: str(official / "pulumi") if how == PULUMI else str(official)})
    assert (found.version, found.origin) == (PINNED, how)
    assert (official / "pulumi-language-python").is_file(), "the release brings no language host for Python"


def test_a_plain_preview_plans_what_gpuprov_plans(
    official: Path,
    cloud_site: LiveSite,
    cloud_target: CloudSpec,
    product_account: ProductAccount,
    account: LiveAccount,
    checkout: Path,
    tmp_path: Path,
) -> None:
    """The program of the checkout, run by Pulumi's language host, on the document that gpuprov decides."""
    held = account.listing()
    ours = cloud_site.run("preview", "--target", "cloud", "--json").body["plan"]["resources"]["changes"]
    project = tmp_path / "aws"
    shutil.copytree(checkout / "stacks" / "aws", project, ignore=shutil.ignore_patterns("__pycache__", "Pulumi.*.yaml"))
    document = tmp_path / "document.json"
    document.write_text(json.dumps(decided(cloud_site, product_account)), encoding="utf-8")
    environment = plain_environment(official, tmp_path, cloud_target, document)
    pulumi(official, project, environment, "stack", "init", STACK)
    planned = json.loads(pulumi(official, project, environment, "preview", "--json"))
    assert set(planned["changeSummary"]) == {"create"}
    names = {step["urn"].rpartition("::")[2] for step in planned["steps"] if "::pulumi:" not in step["urn"]}
    assert f"instance.{HOST}" in names
    assert names == {change["address"] for change in ours}
    assert account.listing() == held


def decided(site: LiveSite, product_account: ProductAccount) -> dict[str, Any]:
    """The stack document of the site's spec."""
    opened = open_site(site.folder / "gpuprov.yaml")
    lock, _ = open_lock(opened)
    assert opened.spec.cloud is not None
    types = [pool.cloud.instance for pool in opened.spec.pools.values() if pool.cloud is not None]
    keys = login_keys(opened.spec.cloud, opened.path)
    zones = product_account.offerings(types)
    return dict(stack_document(opened.spec, lock, zones=zones, login_keys=keys, images={}))


def plain_environment(official: Path, folder: Path, target: CloudSpec, document: Path) -> dict[str, str]:
    """What a person would export: a backend in a folder, the profile, and a Python that has pulumi_aws."""
    (folder / "state").mkdir()
    python = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(official), str(python), os.environ.get("PATH", os.defpath)]),
        "PULUMI_BACKEND_URL": (folder / "state").as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": "plain",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "AWS_PROFILE": str(target.profile),
        "AWS_REGION": target.region,
        "GPUPROV_STACK_DOCUMENT": str(document),
    }


def pulumi(official: Path, project: Path, environment: dict[str, str], *argv: str) -> str:
    """Run Pulumi's own program in the project; returns what it printed."""
    done = subprocess.run(
        [str(official / "pulumi"), *argv, "--non-interactive"],
        cwd=project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, f"pulumi {' '.join(argv)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
