"""A real Slurm on the nodes of a lab: slurmctld on one, slurmd on others, and a watcher of how many are drained."""

import secrets
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self

from tests.e2e.site import LabSite

_APT = "DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=60"
_PACKAGES = "dpkg-query -W -f '${Package}\\n'"
# Slurm 22.05.8 of bookworm, as tried in the lab: no accounting, and no cgroups, whose plugin must be told not to look
# for them (a machine with both versions mounted is fatal to it); ended jobs are kept for the test to look at.
_CONFIGURATION = """\
ClusterName=lab
SlurmctldHost={controller}
AuthType=auth/munge
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=1
SlurmdTimeout=60
MinJobAge=86400
SlurmdParameters=config_overrides
NodeName={nodes} CPUs=1 RealMemory=100 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


UNTIL_DRAINED = """\
for second in $(seq 1500); do scontrol show node $SLURMD_NODENAME | grep -q DRAIN && break; sleep 1; done
sleep 10"""
"""Work that is not done before its node is asked to take no more, and for a while after that."""


@dataclass(kw_only=True)
class Cluster:
    """Slurm on a lab; leave it as a context manager, and its packages go again."""

    site: LabSite
    controller: str
    nodes: Sequence[str]
    _before: dict[str, set[str]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Install and start it, and wait until all nodes are idle."""
        key = secrets.token_hex(64)
        names = [self.controller, *self.nodes]
        hosts = "".join(f"{self.site.lab.description.node(name).address} {name} # slurm\\n" for name in names)
        configuration = _CONFIGURATION.format(controller=self.controller, nodes=",".join(self.nodes))

        def install(name: str) -> None:
            daemon = "slurmctld" if name == self.controller else "slurmd"
            self._before[name] = set(self.site.root(name, _PACKAGES).split())
            self.site.root(
                name,
                f"printf '{hosts}' >>/etc/hosts; apt-get update -qq >&2; {_APT} munge slurm-client {daemon} >&2;"
                f" cd /etc/munge; printf '{key}' >munge.key; chown munge: munge.key; chmod 400 munge.key;"
                f" mkdir -p /var/lib/slurm/{daemon}; chown slurm: /var/lib/slurm/{daemon};"
                f" echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf;"
                f" cat >/etc/slurm/slurm.conf <<'END'\n{configuration}END\n"
                f" systemctl restart munge; systemctl enable -q {daemon}; systemctl restart {daemon}",
            )

        with ThreadPoolExecutor(max_workers=len(names)) as threads:
            list(threads.map(install, names))
        self.wait(lambda: set(self.states().values()) == {"idle"})
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what came with it."""

        def purge(name: str) -> None:
            new = set(self.site.root(name, _PACKAGES).split()) - self._before[name]
            self.site.root(
                name,
                f"DEBIAN_FRONTEND=noninteractive apt-get purge -qq -y {' '.join(sorted(new))} >&2;"
                " rm -rf /etc/slurm /etc/munge /var/lib/slurm; sed -i '/ # slurm$/d' /etc/hosts",
            )

        with ThreadPoolExecutor(max_workers=len(self._before)) as threads:
            list(threads.map(purge, self._before))

    def ask(self, command: str) -> str:
        """Run a command on the controller."""
        return self.site.root(self.controller, command)

    def states(self) -> dict[str, str]:
        """Node -> state, as sinfo has it."""
        rows = self.ask("sinfo --noheader --Node --format='%N %T'").splitlines()
        return dict(row.split() for row in rows)

    def submit(self, node: str, work: str) -> str:
        """A job on a node: shell commands without single quotes; returns its number.

        When it has worked to its end, it writes the boot id.
        """
        script = f"#!/bin/sh\n{work}; cat /proc/sys/kernel/random/boot_id >/var/tmp/job-$SLURM_JOB_ID\n"
        told = self.ask(f"cd /tmp; printf '{script}' | sbatch --parsable --nodelist={node} --output=/dev/null")
        return told.strip()

    def job(self, number: str) -> str:
        """The state of a job."""
        return self.ask(f"scontrol show job {number} | grep -o 'JobState=[A-Z_]*'").strip().partition("=")[2]

    def wait(self, good: Any, seconds: float = 120) -> None:
        """Until something is true."""
        stop = threading.Event()
        for _ in range(int(seconds * 2)):
            if good():
                return
            stop.wait(0.5)
        raise AssertionError(f"not within {seconds} s: {self.states()}")

    def watch(self) -> "Watcher":
        """Count the nodes that are out of service, as long as it is open."""
        return Watcher(self)


class Watcher:
    """Asks Slurm again and again which nodes are out of service."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._stop = cluster, threading.Event()
        self.looks: list[dict[str, str]] = []
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.5):
            self.looks.append(self._cluster.states())

    @property
    def most(self) -> int:
        """Most nodes that were out of service at once; `down` is too."""
        out = ("drain", "down")
        return max(sum(state.startswith(out) for state in look.values()) for look in self.looks)
