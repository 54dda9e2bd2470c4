"""What a host must still have after a change."""

from typing import Any

import pytest

from gpuprov.model.fact import Fact, Known
from gpuprov.model.snapshot import Snapshot
from gpuprov.rollout.likeness import lost

H100 = "NVIDIA H100 80GB HBM3"


def snapshot(facts: dict[str, Any]) -> Snapshot:
    return Snapshot(
        host="a", taken="", facts={key: Fact(address=key, observation=Known(value)) for key, value in facts.items()}
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"gpu.count": 8}, {"gpu.count": 8}, []),
        ({"gpu.count": 8}, {"gpu.count": 7}, ["gpu.count"]),
        ({"gpu.count": 7}, {"gpu.count": 8}, []),
        ({"gpu.count": 8}, {}, ["gpu.count"]),
        ({}, {"gpu.count": 7}, []),
        ({"gpu.models": [H100]}, {"gpu.models": [H100]}, []),
        ({"gpu.models": ["H100 of an old driver"]}, {"gpu.models": [H100]}, []),
        ({"gpu.models": [H100]}, {"gpu.models": [H100, "NVIDIA T4"]}, ["gpu.models"]),
        ({"gpu.models": [H100]}, {"gpu.models": []}, ["gpu.models"]),
        ({"gpu.models": [H100]}, {}, ["gpu.models"]),
        ({"gpu.models": []}, {"gpu.models": ["NVIDIA T4"]}, []),
        ({"stack.cdi.state": "current"}, {"stack.cdi.state": "stale"}, ["stack.cdi.state"]),
        ({}, {"stack.cdi.state": "stale", "stack.cdi.missing": ["/a.so"]}, ["stack.cdi.state"]),
        ({"stack.cdi.state": "stale"}, {"stack.cdi.state": "stale"}, []),
        ({"stack.cdi.state": "current"}, {"stack.cdi.state": "current"}, []),
    ],
)
def test_what_was_there_must_be_there_again(before: dict[str, Any], after: dict[str, Any], told: list[str]) -> None:
    assert [address for address, _ in lost(snapshot(before), snapshot(after), [H100])] == told


def test_the_files_that_a_stale_description_names_are_told() -> None:
    after = snapshot({"stack.cdi.state": "stale", "stack.cdi.missing": ["/usr/lib/libcuda.so.570.1"]})
    ((_, sentence),) = lost(snapshot({}), after, [])
    assert "/usr/lib/libcuda.so.570.1" in sentence
