"""What each rule asks, from which parts of the catalog it follows, and what satisfies it: for people who look it up."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleText:
    """One rule."""

    asks: str
    """What must go together, in a sentence or two, with the weight of each answer."""
    basis: tuple[tuple[str, str], ...]
    """Tables and fields of the catalog that it reads; empty where it reads the spec, the lock or the host alone."""
    reads: str
    """What else it reads, or where its own figure comes from."""
    satisfies: str


RULES: Final[dict[str, RuleText]] = {
    "GP-RULE-001": RuleText(
        asks="The driver runs programs of the CUDA release. Refused below the lowest driver of the release's major; "
        "a warning where the driver reports an older minor, so that only minor version compatibility holds.",
        basis=(("toolkits", "min_driver"), ("branches", "max_cuda")),
        reads="stack.cuda; stack.driver.version, or the locked driver",
        satisfies="a driver at or above the lowest one of that CUDA major, or an older stack.cuda",
    ),
    "GP-RULE-002": RuleText(
        asks="The driver branch supports every GPU of the pool. Refused where the branch has left the architecture, "
        "or the driver is older than the GPU.",
        basis=(("branches", "architectures"), ("architectures", "max_branch"), ("gpus", "min_driver")),
        reads="pools.*.gpu.model; stack.driver.version, or the locked driver",
        satisfies="a branch between the GPU's lowest driver and the last branch of its architecture",
    ),
    "GP-RULE-003": RuleText(
        asks="The kernel modules come in the flavour that is asked for, and drive every GPU. Refused otherwise: open "
        "modules need Turing or newer, Blackwell needs open ones.",
        basis=(("architectures", "flavour"),),
        reads="stack.driver.modules; open modules begin with branch 515, and packages of proprietary ones end before "
        "615 (Driver Installation Guide R610 and R620)",
        satisfies="the other flavour, or hosts of one kind of GPU",
    ),
    "GP-RULE-004": RuleText(
        asks="The driver branch is supported. A warning when its support has ended, or ends within three months.",
        basis=(("branches", "end_of_support"),),
        reads="the date",
        satisfies="a branch with support, or an acceptance with a date",
    ),
    "GP-RULE-005": RuleText(
        asks="DCGM fits the driver: its package is for the CUDA major that the driver reports (12 for GPUs before "
        "Turing) and no known fault stands between the two. Refused or warned of by the row.",
        basis=(("dcgm", "versions"), ("branches", "max_cuda")),
        reads="stack.dcgm, stack.packages, the locked packages",
        satisfies="leave the package to `stack.dcgm`, or take another version of DCGM",
    ),
    "GP-RULE-006": RuleText(
        asks="A GPU behind NVSwitch gets Fabric Manager on its host, one with a rack's fabric the memory exchange "
        "service. Refused where it cannot be had; a warning where the spec does without.",
        basis=(("gpus", "fabric"), ("companions", "fabrics")),
        reads="stack.fabric, stack.packages, the driver's source",
        satisfies="`fabric: auto` with NVIDIA's repository, or the package that is named",
    ),
    "GP-RULE-007": RuleText(
        asks="What is one set has one version: the driver with Fabric Manager, NSCQ, IMEX and their like; the four "
        "packages of the container toolkit; DCGM. Refused otherwise.",
        basis=(("companions", "equal"), ("packages", "equal")),
        reads="the locked packages",
        satisfies="one version for the set; gpuprov's own requests always ask for one",
    ),
    "GP-RULE-008": RuleText(
        asks="The instance type has exactly the pool's GPUs, the architecture that packages are locked for, and is "
        "sold the way the spec buys it. Refused otherwise; a warning where it was not offered in the region.",
        basis=(
            ("instances", "gpu"),
            ("instances", "gpus"),
            ("instances", "capacity_block_only"),
            ("retired", "reason"),
        ),
        reads="pools.*.cloud.instance, pools.*.gpu, targets.cloud",
        satisfies="a type that the answer names, or another gpu in the pool",
    ),
    "GP-RULE-009": RuleText(
        asks="Packages of forward compatibility (cuda-compat) stand on data centre GPUs alone, and on drivers that "
        "are older than they. Refused on other GPUs; a warning where they only get in the way.",
        basis=(("gpus", "datacenter"), ("branches", "max_cuda")),
        reads="stack.packages, the locked packages",
        satisfies="take the package away, or use the driver that reports the CUDA release",
    ),
    "GP-RULE-010": RuleText(
        asks="The container engine reads the device specs (CDI) that the toolkit writes. A warning where the engine "
        "is too old: the runtime works, `--device` does not.",
        basis=(("engines", "min_version"), ("systems", "docker"), ("systems", "containerd")),
        reads="stack.container, the locked engine",
        satisfies="a newer OS release, or a toolkit before 1.19.1",
    ),
    "GP-RULE-011": RuleText(
        asks="A framework's wheel runs with the driver and has code for every GPU. Refused otherwise; a warning "
        "where the driver only just runs it.",
        basis=(("frameworks", "min_driver"), ("variants", "branch"), ("variants", "new_capabilities")),
        reads="stack.frameworks and its source's CUDA variant, or the locked wheels",
        satisfies="a variant of another CUDA, a newer driver, or another release of the framework",
    ),
    "GP-RULE-012": RuleText(
        asks="Operating system, kernel and architecture fit the driver and the GPU. Refused where modules would not "
        "build for the kernel, or the GPU is one part with a CPU of another architecture; a warning where the "
        "driver's guide does not name the OS.",
        basis=(("systems", "guides"), ("systems", "kernel"), ("branches", "min_kernel"), ("gpus", "cpu")),
        reads="os, stack.kernel, or the locked kernel",
        satisfies="another OS release, kernel or branch, by the answer",
    ),
    "GP-RULE-013": RuleText(
        asks="nvcc takes the OS's own compiler. A warning otherwise: programs run, and nvcc refuses to compile.",
        basis=(("toolkits", "max_gcc"), ("systems", "gcc")),
        reads="stack.cuda, os",
        satisfies="an older compiler in stack.packages, or a newer CUDA release",
    ),
    "GP-RULE-014": RuleText(
        asks="NVIDIA's repository is the one for the OS and the architecture, and is signed by its own key. Refused "
        "otherwise. Keys differ from one OS to the next; one with SHA-1 self-signatures is trusted as a bare key "
        "where the catalog says so of that OS.",
        basis=(("repositories", "fingerprint"), ("systems", "repository")),
        reads="the URL and the key of the driver's source",
        satisfies="the path and the key that the answer names",
    ),
    "GP-RULE-015": RuleText(
        asks="The MIG layout exists on the GPU, has room there, and the driver knows it. Refused otherwise.",
        basis=(("gpus", "mig_profiles"), ("gpus", "mig_min_driver")),
        reads="pools.*.gpu.mig",
        satisfies="profiles of the GPU within its slices, or a newer driver",
    ),
    "GP-RULE-016": RuleText(
        asks="nvcc builds for the GPU. Refused where the CUDA release has left its compute capability; a warning "
        "where the release is older than the GPU, so that programs are compiled when they start.",
        basis=(("toolkits", "min_capability"), ("toolkits", "new_capabilities"), ("gpus", "compute_capability")),
        reads="stack.cuda, pools.*.gpu.model",
        satisfies="a CUDA release that the answer names",
    ),
    "GP-RULE-017": RuleText(
        asks="No two entries of a host's package sources name one repository with different keys: apt reads no list "
        "at all then. Refused before the host is touched.",
        basis=(),
        reads="the host's files below /etc/apt",
        satisfies="exactly one of the entries on the host",
    ),
    "GP-RULE-018": RuleText(
        asks="Where Secure Boot is on, the kernel takes only signed modules. Refused for a module that is not "
        "signed; a warning for one that the host signs by itself.",
        basis=(),
        reads="the host's firmware and the module on its disk",
        satisfies="enrol the host's own signing key; gpuprov never switches Secure Boot off",
    ),
    "GP-RULE-019": RuleText(
        asks="Containers keep their GPUs when systemd reloads its units. A warning where the host has no links to "
        "the GPUs below /dev/char and the engine leaves device rules to systemd.",
        basis=(),
        reads="the host's /dev/char and its engine's settings",
        satisfies="make the links with nvidia-ctk, and recreate the containers",
    ),
}
"""By code; what cannot be decided is told as GP-RULE-900, and names the rule."""
