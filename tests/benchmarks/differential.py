"""gpuprov's plans beside apt's, on requests drawn from this machine's whole OS archive: a table, and every difference.

exact: the plan for a request is that of this machine's apt. closed: given all rows by name and version, apt plans
just these; this machine's apt, and those of other releases, unpacked into a folder. Needs the archive's mirror.

usage: python tests/benchmarks/differential.py [--sets 200] [--closed 50] [--seed 1] [--suite trixie ...]
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "builders"))

from differential import Archive, closed, difference, drawn, open_archive, our_answer, plan_of, their_plan
from other_apt import unpack_apt
from private_apt import Plan

BIG = ("docker.io", "nvidia-driver", "nvidia-cuda-toolkit", "prometheus")
Ask = Callable[[Sequence[str]], Plan | None]


@dataclass(kw_only=True, slots=True)
class Tally:
    """One line of the table."""

    label: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))
    packages: int = 0
    wrong: list[str] = field(default_factory=list)
    ours: float = 0.0
    """Seconds."""
    theirs: float = 0.0

    def note(self, request: Sequence[str], ours: Plan | None, theirs: Plan | None) -> None:
        """Count one comparison."""
        text = difference(ours, theirs)
        kind = "different" if text else "both refuse" if ours is None else "same"
        self.counts["sets"] += 1
        self.counts[kind] += 1
        self.packages += len(ours or ())
        if text:
            self.wrong.append(f"{' '.join(request)}: {text}")
        if text or not self.counts["sets"] % 10:
            print(f"{self.label}: {self.counts}{f'; {self.wrong[-1]}' if text else ''}", flush=True)


COLUMNS = ("sets", "same", "both refuse", "different")


def exact(archive: Archive, requests: Sequence[Sequence[str]]) -> Tally:
    """Compare plans for requests; where apt gives up and the search does not, apt is asked about its answer."""
    tally = Tally(label="exact, this machine's apt")
    for request in requests:
        began = time.perf_counter()
        answer = our_answer(archive.index, request)
        tally.ours += time.perf_counter() - began
        began = time.perf_counter()
        theirs, searched = their_plan(archive.apt, request, answer)
        tally.theirs += time.perf_counter() - began
        if searched:
            print(f"apt gives up, the search does not: {' '.join(request)}", flush=True)
        tally.note(request, plan_of(answer), theirs)
    return tally


def closed_sets(archive: Archive, requests: Sequence[Sequence[str]], label: str, ask: Ask) -> Tally:
    """Hand apt all rows of each plan."""
    tally = Tally(label=f"closed, {label}")
    for request in requests:
        plan = plan_of(our_answer(archive.index, request))
        if plan is not None:
            began = time.perf_counter()
            theirs = ask(closed(plan))
            tally.theirs += time.perf_counter() - began
            tally.note(request, plan, theirs)
    return tally


def main() -> int:
    """Draw, compare, print; the status says whether anything differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--closed", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite", nargs="*", default=["trixie"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, open_archive(Path(name) / "archive") as archive:
        requests = [BIG, *drawn(archive.names, options.seed, max(options.sets, options.closed))]
        version = archive.apt.run("--version").stdout.split()[1]
        print(f"{len(archive.names)} packages, seed {options.seed}, this machine's apt is {version}", flush=True)
        lines = [exact(archive, requests[: options.sets])]
        some = requests[: options.closed]
        lines.append(closed_sets(archive, some, f"apt {version}", archive.apt.plan))
        for suite in options.suite if some else ():
            other = unpack_apt(suite, Path(name) / suite, archive.apt)
            label = f"{suite}'s apt {other.run('--version').stdout.split()[1]}"
            lines.append(closed_sets(archive, some, label, lambda words, apt=other: apt.simulate("install", *words)))
    print(f"{'':<34}" + "".join(f"{column:>13}" for column in (*COLUMNS, "packages", "gpuprov s", "apt s")))
    for line in lines:
        cells = [*line.counts.values(), line.packages, f"{line.ours:.1f}" if line.ours else "", f"{line.theirs:.0f}"]
        print(f"{line.label:<34}" + "".join(f"{cell:>13}" for cell in cells))
    wrong = [f"{line.label}: {text}" for line in lines for text in line.wrong]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
