"""From a recording to a snapshot: the same whether it was taken now or sent by somebody else."""

import hashlib

from gpuprov.model.fact import Evidence, Fact, Observation
from gpuprov.model.snapshot import CollectorOutput, Recording, Snapshot
from gpuprov.probe.collector import observe
from gpuprov.probe.collectors import COLLECTORS


def snapshot_of(recording: Recording) -> Snapshot:
    """Parse everything that was recorded; what no parser understands is Unknown."""
    facts: dict[str, Fact] = {}
    families: dict[str, Observation] = {}
    for collector in COLLECTORS:
        evidence = _evidence(collector.name, recording.collectors.get(collector.name))
        for address, observation in observe(collector, recording).items():
            if address.endswith("[*]"):
                families[address.removesuffix("[*]")] = observation
            else:
                facts[address] = Fact(address=address, observation=observation, evidence=evidence)
    return Snapshot(
        host=recording.host, taken=recording.taken, facts=facts, families=families, seconds=recording.seconds
    )


def _evidence(name: str, output: CollectorOutput | None) -> Evidence | None:
    if output is None:
        return None
    digest = hashlib.sha256(f"{output.stdout}\0{output.stderr}".encode("utf-8", "surrogateescape")).hexdigest()
    return Evidence(collector=name, status=output.status, digest=f"sha256:{digest}")
