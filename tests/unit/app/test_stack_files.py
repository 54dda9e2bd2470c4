"""`state list|restore|unlock`: on files beside a spec, without an engine or an account."""

import fcntl
import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from ground_builders import make_site
from state_files import state_file

from gpuprov.app.cloud_site import place_of
from gpuprov.app.site import Site
from gpuprov.app.stack_files import restore, stack_record, unlock
from gpuprov.cloud.copies import back_up
from gpuprov.cloud.mark import is_marked
from gpuprov.cloud.runner import hold_file
from gpuprov.cloud.state_names import PROJECT
from gpuprov.cloud.types import StackPlace
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.stack_record import CopyOrigin, Holder, Restoring

STATES = Path(__file__).parents[2] / "cases" / "cloud" / "states"
GONE = 2**22 - 1


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path)


@pytest.fixture
def place(site: Site) -> StackPlace:
    return place_of(site, {})


def put(place: StackPlace, name: str) -> Path:
    path = state_file(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((STATES / f"{name}.json").read_text())
    return path


def lock(place: StackPlace, *, ago: float = 0, **values: object) -> Path:
    folder = place.folder / "state" / ".pulumi" / "locks" / "organization" / PROJECT / place.name
    folder.mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - ago))
    whole = {"pid": os.getpid(), "username": "ana", "hostname": socket.gethostname(), "timestamp": now}
    path = folder / "1.json"
    path.write_text(json.dumps({**whole, **values}))
    return path


def code(site: Site, name: str | None = None) -> str:
    with pytest.raises(GpuprovError) as error:
        restore(site.path, name, lambda _: True)
    return error.value.diagnostics[0].code


def test_a_site_without_a_stack_has_an_empty_record(site: Site) -> None:
    found = stack_record(site.path)
    assert (found.stack, found.resources, found.copies, found.holders, found.unfinished) == ("site", 0, (), (), False)
    assert code(site) == "GP-CLOUD-063"


def test_a_record_names_what_is_pending_and_its_copies_newest_first(site: Site, place: StackPlace) -> None:
    path = put(place, "whole")
    back_up(place)
    path.with_name("site.json.bak").write_text("{")
    os.utime(path.with_name("site.json.bak"), (1, 1))
    put(place, "pending")
    found = stack_record(site.path)
    assert (found.file, found.broken) == (str(path), "")
    assert found.pending == (("instance.train-c", "creating"),)
    assert [(copy.origin, copy.resources is None) for copy in found.copies] == [
        (CopyOrigin.BEFORE, False),
        (CopyOrigin.LAST, True),
    ]


def test_a_broken_state_goes_back_to_the_newest_whole_copy_and_is_kept(site: Site, place: StackPlace) -> None:
    path = put(place, "whole")
    back_up(place)
    path.write_text('{"version": 3, "chec')
    path.with_name("site.json.bak").write_text("{")
    assert stack_record(site.path).broken
    asked: list[Restoring] = []

    def agree(meaning: Restoring) -> bool:
        asked.append(meaning)
        return len(asked) > 1

    meaning, kept, done = restore(site.path, None, agree)
    assert (kept, done, meaning.now_broken) == (None, False, True)
    assert stack_record(site.path).broken
    _, kept, done = restore(site.path, None, agree)
    assert done
    assert path.read_text() == (STATES / "whole.json").read_text()
    assert kept is not None
    assert (place.folder / kept).read_text() == '{"version": 3, "chec'
    assert is_marked(place), "the next update looks in the account for everything that it would make"


def test_what_a_copy_does_not_know_is_told_before(site: Site, place: StackPlace) -> None:
    path = put(place, "whole")
    value = json.loads(path.read_text())
    latest = value["checkpoint"]["latest"]
    gone = [row for row in latest["resources"] if row["urn"].endswith("::instance.train-b")]
    latest["resources"] = [row for row in latest["resources"] if row not in gone]
    path.write_text(json.dumps(value))
    copy = back_up(place)
    assert copy is not None
    put(place, "whole")
    newer = back_up(place)
    assert newer is not None
    short = copy.rpartition("/")[2]
    meaning, _, done = restore(site.path, short, lambda _: False)
    assert (meaning.forgotten, meaning.known_again, done) == (("instance.train-b",), (), False)
    assert code(site, short[:4]) == "GP-CLOUD-063", "both begin so"
    assert code(site, "nothing") == "GP-CLOUD-063"
    (place.folder / newer).write_text("{}")
    assert code(site, newer.rpartition("/")[2]) == "GP-CLOUD-013"


def test_a_copy_under_other_secrets_is_refused(site: Site, place: StackPlace) -> None:
    path = put(place, "whole")
    value = json.loads(path.read_text())
    value["checkpoint"]["latest"]["secrets_providers"] = {"type": "cloud", "state": {"url": "awskms://alias/x?a=b"}}
    path.write_text(json.dumps(value))
    back_up(place)
    assert code(site) == "GP-CLOUD-061"


def test_nothing_is_put_back_while_somebody_holds_the_state(site: Site, place: StackPlace) -> None:
    put(place, "whole")
    back_up(place)
    held = lock(place)
    assert code(site) == "GP-CLOUD-011"
    held.unlink()
    stale = lock(place, pid=GONE)
    assert restore(site.path, None, lambda _: True)[2]
    assert not stale.exists()
    with hold_file(place).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert code(site) == "GP-CLOUD-011"


def test_a_lock_of_a_live_process_stays(site: Site, place: StackPlace) -> None:
    assert unlock(site.path, lambda _: True) == ((), False)
    held = lock(place)
    with pytest.raises(GpuprovError) as error:
        unlock(site.path, lambda _: True)
    assert error.value.diagnostics[0].code == "GP-CLOUD-011"
    assert f"process {os.getpid()} of ana still lives" in error.value.diagnostics[0].summary
    assert held.exists()


@pytest.mark.parametrize("values", [{"pid": GONE}, {"hostname": "elsewhere"}], ids=["gone", "another machine's"])
def test_another_lock_goes_when_it_is_agreed_to(site: Site, place: StackPlace, values: dict[str, object]) -> None:
    held = lock(place, ago=100, **values)
    asked: list[Sequence[Holder]] = []

    def agree(holders: Sequence[Holder]) -> bool:
        asked.append(holders)
        return len(asked) > 1

    holders, done = unlock(site.path, agree)
    assert (done, held.exists()) == (False, True)
    assert holders[0].alive is (None if "hostname" in values else False)
    assert 90 < (holders[0].seconds or 0) < 1000
    assert unlock(site.path, agree)[1]
    assert not held.exists()
