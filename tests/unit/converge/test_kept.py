"""What a host keeps, or goes back to, as the roles are told."""

import json
from dataclasses import replace
from pathlib import PurePosixPath

from host_builders import make_want

from gpuprov.converge.kept import kept_variables
from gpuprov.converge.types import Keeping, RunDocuments
from gpuprov.want.read import read_want

WANT = make_want()
SHARED = RunDocuments(spec="spec\n", lock="lock\n")
RECORD = PurePosixPath("/var/lib/gpuprov")


def test_a_step_forward_leaves_the_run_s_documents_and_the_host_as_it_was_found() -> None:
    found = replace(WANT, digest="sha256:found")
    given = kept_variables(Keeping(run="r2", want=WANT, found=found), SHARED, RECORD)
    assert set(given) == {"gpuprov_packages_rollback"}
    told = given["gpuprov_packages_rollback"]
    documents = {row["name"]: row["text"] for row in told["documents"]}
    assert (documents["spec.yaml"], documents["lock.json"]) == ("spec\n", "lock\n")
    assert read_want(documents["want.json"], "h") == WANT
    assert json.loads(told["found"])["digest"] == "sha256:found"
    assert (told["run"], told["want"], told["required"], told["restore"]) == ("r2", WANT.digest, True, "")


def test_a_way_back_brings_each_host_its_own_documents() -> None:
    own = RunDocuments(spec="old spec\n", lock="old lock\n")
    given = kept_variables(Keeping(run="r3", want=WANT, restore="r1", documents=own), SHARED, RECORD)
    assert given["gpuprov_packages_rollback"]["restore"] == "r1"
    written = {row["path"]: (row["text"], row["mode"]) for row in given["gpuprov_record_documents"]}
    assert written == {
        "/var/lib/gpuprov/spec.yaml": ("old spec\n", "0600"),
        "/var/lib/gpuprov/lock.json": ("old lock\n", "0600"),
    }
    assert given["gpuprov_record_delete"] == []


def test_back_to_a_host_as_it_was_found_no_spec_or_lock_of_a_later_run_stays() -> None:
    own = RunDocuments(spec="", lock="")
    given = kept_variables(Keeping(run="r3", want=WANT, restore="as-found", documents=own), SHARED, RECORD)
    assert given["gpuprov_record_documents"] == []
    assert given["gpuprov_record_delete"] == ["/var/lib/gpuprov/spec.yaml", "/var/lib/gpuprov/lock.json"]
