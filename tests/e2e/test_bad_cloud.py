"""What goes wrong in a cloud: one clear error with its status, nothing made that should not be, and the next goes on.

Instances exist in the API only (the lab's fault `boot-off`): no case is about what runs on them.
"""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from broken_state import cut_state, locked_by_another

from gpuprov.lab.aws import faults
from tests.e2e.account import Account
from tests.e2e.site import LabSite

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]
CASES = yaml.safe_load((Path(__file__).parents[1] / "cases" / "bad-input" / "cloud.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def bad(fresh_lab: Callable[..., LabSite]) -> Iterator[LabSite]:
    """A lab whose network and storage stand, and whose instances are still to be made."""
    site = fresh_lab("badaws", train=1, cloud=True)
    site.run("lock")
    endpoint = site.env["AWS_ENDPOINT_URL"]
    with faults.fault(endpoint, kind="boot-off"):
        with faults.fault(endpoint, kind="capacity"):
            site.run("up", "--target", "cloud", "-y", expect=4)
        yield site


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_bad_cloud_gives_one_clear_error(case: dict[str, Any], bad: LabSite) -> None:
    cloud = bad.lab.description.cloud
    names = {name: getattr(cloud, name) for name in ("account", "region", "instance")} | {"folder": str(bad.folder)}
    account = Account(bad.env)
    before = account.listing()
    environment = {**bad.env}
    for name, value in case.get("env", {}).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value.format(**names)
    argv = list(case["argv"])
    if argv[0] in {"up", "preview"}:
        argv += ["--target", "cloud"]
    with _broken(case, bad, names):
        ended = LabSite(lab=bad.lab, env=environment).run(*argv, expect=None)
    assert (ended.status, ended.codes[:1]) == (case["status"], [case["code"]]), ended.stdout + ended.stderr
    for word in case["words"]:
        assert word.format(**names) in ended.stderr
    assert len(set(ended.codes)) == 1, ended.stderr
    if not case.get("makes"):
        assert account.listing() == before


def test_after_all_that_the_stack_is_whole(bad: LabSite) -> None:
    plan = bad.run("preview", "--target", "cloud", "--json").body
    changes = {change["address"]: change["action"] for change in plan["plan"]["resources"]["changes"]}
    assert set(changes.values()) == {"create"}, changes


def test_ctrl_c_during_an_update_ends_it_in_order(bad: LabSite) -> None:
    endpoint = bad.env["AWS_ENDPOINT_URL"]
    with faults.slow(endpoint, action="RunInstances", seconds=5):
        process = bad.start("up", "--target", "cloud", "-y", start_new_session=True)
        deadline = time.monotonic() + 120
        while not faults.in_progress(endpoint, action="RunInstances"):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 8, stdout + stderr
    made = {tag["Value"] for i in Account(bad.env).instances().values() for tag in i["Tags"] if tag["Key"] == "Name"}
    plan = bad.run("preview", "--target", "cloud", "--json", expect=None).body
    still = {
        c["address"].partition(".")[2]
        for c in plan["plan"]["resources"]["changes"]
        if c["address"].startswith("instance.")
    }
    assert not made & still, "an instance that was made is recorded, and not made twice"


_BREAKS = {"locked_by_another": locked_by_another, "cut_state": cut_state}


@contextlib.contextmanager
def _broken(case: dict[str, Any], site: LabSite, names: dict[str, str]) -> Iterator[None]:
    """Everything that the case breaks, undone at the end."""
    spec = site.folder / "gpuprov.yaml"
    text = spec.read_text(encoding="utf-8")
    with contextlib.ExitStack() as stack:
        stack.callback(spec.write_text, text, encoding="utf-8")
        if "edit" in case:
            old, new = (part.format(**names) for part in case["edit"])
            assert old in text, f"{old!r} is not in\n{text}"
            spec.write_text(text.replace(old, new), encoding="utf-8")
        if "fault" in case:
            stack.enter_context(faults.fault(site.env["AWS_ENDPOINT_URL"], **case["fault"]))
        if "break" in case:
            stack.enter_context(_BREAKS[case["break"]](site.folder))
        yield
