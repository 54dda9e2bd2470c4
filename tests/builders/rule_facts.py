"""Facts of a pool for the rules, from the plain values of a case."""

from collections.abc import Mapping
from typing import Any

from gpuprov.model.version import driver_branch
from gpuprov.rules.facts import Addresses, FrameworkFacts, PoolFacts


def facts_of(given: Mapping[str, Any]) -> PoolFacts:
    """The facts; `gpu_model` stands for one GPU, and branches are the driver's own where they are not given."""
    values = dict(given)
    driver = values.get("driver", "")
    branches = tuple(values.pop("branches", ())) or ((driver_branch(driver),) if driver else ())
    model = values.pop("gpu_model", "")
    values["gpu_models"] = tuple(values.get("gpu_models", ())) or ((model,) if model else ())
    values["frameworks"] = tuple(FrameworkFacts(**framework) for framework in values.get("frameworks", ()))
    for name in ("packages", "mig", "source_keys"):
        values[name] = tuple(values.get(name, ()))
    places = Addresses(gpu="pools.train.gpu.model", mig="pools.train.gpu.mig")
    return PoolFacts(pool="train", branches=branches, addresses=places, **values)
