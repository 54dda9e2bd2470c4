"""Tags that were there before a resource was taken in stay; without such the document is as it was."""

from collections.abc import Mapping
from typing import Any

from cloud_builders import cloud_document, entries, section

from gpuprov.cloud.decide.foreign import with_foreign_tags

FOREIGN = {"team": "ml", "Name": "theirs", "aws:cloudformation:stack-name": "x", "gpuprov:id": "of-before"}


def test_other_peoples_tags_stay_and_gpuprovs_are_its_own() -> None:
    document = cloud_document()
    seen: list[str] = []

    def tags_of(address: str) -> Mapping[str, str]:
        seen.append(address)
        return FOREIGN

    kept = with_foreign_tags(document, tags_of)
    network, before = section(kept, "network"), section(document, "network")
    pairs: list[tuple[Any, Any]] = [
        (network["tags"], before["tags"]),
        (network["gateway"]["tags"], before["gateway"]["tags"]),
        (network["subnets"][0]["tags"], before["subnets"][0]["tags"]),
        (entries(kept, "buckets")["datasets"]["tags"], entries(document, "buckets")["datasets"]["tags"]),
        (section(kept, "identity")["tags"], section(document, "identity")["tags"]),
        (section(kept, "identity")["profile_tags"], section(document, "identity")["profile_tags"]),
    ]
    assert all(now == {**own, "team": "ml", "Name": "theirs"} for now, own in pairs)
    assert {"vpc.main", "gateway.main", "subnet.us-east-1a", "bucket.datasets", "role.main"} <= set(seen)
    assert kept["instances"] == document["instances"]


def test_a_document_of_what_gpuprov_made_is_as_it_was() -> None:
    document = cloud_document()
    own = {"vpc.main": section(document, "network")["tags"]}
    assert with_foreign_tags(document, lambda address: own.get(address, {})) == document
    assert with_foreign_tags(document, lambda _: {}) == document


def test_a_network_that_is_somebody_elses_keeps_its_own() -> None:
    document = {**cloud_document(), "network": {**section(cloud_document(), "network"), "vpc": "vpc-1"}}
    assert with_foreign_tags(document, lambda _: FOREIGN)["network"] == document["network"]
