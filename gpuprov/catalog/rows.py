"""The rows of the catalog, one type a file of data/."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class Row:
    """What every row has.

    Rows are told apart by identity, and have no `repr`: each table makes them once, and the two methods cost every
    command that reads the catalog a third of the time that these types take to load.
    """

    id: str
    sources: tuple[str, ...]
    """Ids of the file's sources; each has a title, an address and a date."""
    unverified: tuple[str, ...] = ()
    """Fields that no source backs: they are None or empty here, and that means unknown."""
    note: str = ""

    def knows(self, field: str) -> bool:
        """Whether a field's value, None included, is backed by a source."""
        return field not in self.unverified


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class GpuRow(Row):
    """One GPU model."""

    nvml_names: tuple[str, ...]
    """Names that NVML gives it."""
    pci_ids: tuple[str, ...]
    """Device ids under vendor 10de, lower-case hex."""
    architecture: str
    fabric: str | None
    """none | nvswitch | nvlsm | external: what its NVLink needs on the host."""
    min_driver: str | None
    """Lowest driver known to name the model."""
    compute_capability: str | None = None
    """major.minor, such as 9.0."""
    memory_gb: int | None = None
    """As it is sold, in 10^9 bytes."""
    memory_bandwidth_gbs: float | None = None
    """GB/s."""
    power_w: int | None = None
    """Highest board power in W; of a superchip with its CPU."""
    cooling: str | None = None
    """passive | active | chassis | liquid | air_or_liquid | cloud_only."""
    form: str | None = None
    """pcie | pcie_low_profile | sxm2 | sxm3 | sxm4 | sxm5 | sxm6 | superchip."""
    cpu: str = ""
    """arm64 for a GPU that is one part with such a CPU; empty: any host."""
    datacenter: bool | None = None
    """Whether it is a data centre GPU, which forward compatibility and vendor support ask for."""
    nvlink_generation: int | None = None
    """0: no NVLink."""
    nvlink_gbs: float | None = None
    """GB/s in both directions together."""
    nvlink_kind: str | None = None
    """What its NVLink joins it to: nvswitch | bridge | bridge_2_or_4 | rack_nvswitch, or empty."""
    mig_instances: int | None = None
    """Most MIG instances; 0: no MIG."""
    mig_min_driver: str | None = None
    """Lowest driver with MIG on the model."""
    mig_profiles: tuple[str, ...] = ()
    """PROFILE:MOST, such as 1g.10gb:7."""
    bf16_tflops: float | None = None
    """Peak dense tensor throughput in 10^12 operations a second, like the next two."""
    fp16_tflops: float | None = None
    fp8_tflops: float | None = None
    achievable_bf16_tflops: float | None = None
    """Best measured matrix product, to compare a benchmark with; like the next one."""
    achievable_fp8_tflops: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ArchitectureRow(Row):
    """One GPU architecture."""

    min_driver: str | None
    """Lowest driver version that supports it."""
    max_branch: int | None
    """Last driver branch that supports it; None: support goes on."""
    flavour: str
    """any | open | proprietary: which kernel modules support it."""
    listed_as: str = ""
    """Name under which driver branches list it, where that is another."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class BranchRow(Row):
    """One driver branch."""

    type: str | None
    """ltsb | production | new_feature."""
    status: str | None
    """supported | ended | superseded, at the file's date."""
    end_of_support: str | None
    """Month as YYYY-MM; None for a branch without such a date."""
    flavours: tuple[str, ...]
    """Kernel modules that it comes with."""
    architectures: tuple[str, ...]
    max_cuda: str | None
    """CUDA version that the branch reports."""
    latest: str
    """Newest release that was seen."""
    latest_date: str | None = None
    """Its date."""
    releases: tuple[str, ...] = ()
    """Releases that were seen, oldest first."""
    min_kernel: str | None = None
    """Oldest Linux that its modules build for."""

    @property
    def number(self) -> int:
        """The branch as a number."""
        return int(self.id)


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ToolkitRow(Row):
    """One release of the CUDA toolkit."""

    release: str
    """major.minor."""
    min_driver: str
    """Lowest driver that runs programs of its major."""
    bundled_driver: str | None
    max_gcc: int | None = None
    """Newest major of GCC that nvcc takes."""
    min_capability: str | None = None
    """Lowest compute capability that nvcc builds for."""
    new_capabilities: tuple[str, ...] = ()
    """Compute capabilities from 10.0 on that nvcc builds for."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class SystemRow(Row):
    """One operating system."""

    family: str
    codename: str
    built: bool
    """Whether this release of gpuprov converges it."""
    repository: str
    """Id of NVIDIA's repository for it."""
    engine: tuple[str, ...]
    """Packages of the container engine in the OS archive."""
    node_exporter: str | None
    python: str | None = None
    """Release of the OS's own Python 3: `3.11`."""
    glibc: str | None = None
    """Release of the C library, which decides on the wheels that run: `2.36`."""
    guides: tuple[str, ...] = ()
    """Driver branches whose installation guide names it."""
    kernel: str | None = None
    """Linux of its general kernel, major.minor."""
    kernel_image: str | None = None
    """Metapackage of its general kernel, with <arch> for the architecture."""
    cloud_kernel: str | None = None
    """Metapackage of the kernel of its cloud images; empty: the general one."""
    gcc: int | None = None
    """Major of its default GCC."""
    docker: str | None = None
    """Version of docker.io in its archive."""
    containerd: str | None = None
    """Version of containerd in its archive."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RepositoryRow(Row):
    """One repository of a vendor."""

    source: str
    """Name that a spec gives it: nvidia."""
    url: str | None
    """Root without the architecture's part."""
    key_file: str | None
    fingerprint: str | None
    """Upper-case hex."""
    weak_key: bool = False
    """Whether the key's own self-signatures are SHA-1 alone: the bare key is trusted then, by its fingerprint."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class PackagesRow(Row):
    """The packages of one part of the stack, for one OS family, origin and range of driver branches."""

    part: str
    family: str
    origin: str
    """nvidia | os."""
    modules: str
    """open | proprietary; empty where the flavour does not matter."""
    min_branch: int | None
    max_branch: int | None
    packages: tuple[str, ...]
    equal: str
    """driver: equal to the driver; part: all equal; empty: each for itself."""
    free: tuple[str, ...] = ()
    """Packages that take no version constraint."""
    apart: tuple[str, ...] = ()
    """Packages that these bring, named like the driver and versioned by themselves."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class NeverRow(Row):
    """Packages that are never locked."""

    pattern: str
    """Regular expression over the whole name."""
    use: str
    """Field of the spec to use instead."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ServiceRow(Row):
    """One systemd unit; its id is its name without `.service`."""

    packages: tuple[str, ...]
    gpu: bool
    exporter: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ComponentRow(Row):
    """One part of the GPU stack, told by package names."""

    patterns: tuple[str, ...]
    """Regular expressions over the whole name."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class DcgmRow(Row):
    """One thing known of DCGM against a driver or a GPU."""

    versions: str
    """Constraint on DCGM's version."""
    from_branch: int | None
    architectures: tuple[str, ...]
    verdict: str
    """refuse | warn."""
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class InstanceRow(Row):
    """One EC2 instance type; its id is the type's name."""

    gpu: str | None
    """Id of its GPU model in gpus.json; empty for a type without GPUs; None: the catalog has no row that is backed."""
    gpu_name: str
    """EC2's own name of the GPU, such as `H100`; empty for a type without GPUs."""
    gpus: int | None
    """Whole GPUs; 0 for a type without GPUs, or with a part of one."""
    vcpus: int | None
    memory_mib: int | None
    local_nvme_gb: int | None
    """Of all local disks together, in 10^9 bytes; they are lost when the instance stops. 0: none."""
    arch: str
    """amd64 | arm64."""
    gpu_memory_mib: int | None = None
    """Of each GPU."""
    network_gbps: float | None = None
    """Peak over all network cards, in Gbit/s."""
    network_cards: int | None = None
    efa_interfaces: int | None = None
    """Most EFA interfaces; 0: no EFA."""
    efa_gbps: float | None = None
    """RDMA bandwidth as advertised, in Gbit/s."""
    quota: str | None = None
    """Family of the vCPU quota it counts in: G | P."""
    capacity_block_only: bool | None = None
    """Whether it is sold in capacity blocks alone."""
    regions: tuple[str, ...] = ()
    """Regions that offer it."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RetiredRow(Row):
    """EC2 instance types that can no longer be had."""

    pattern: str
    """Regular expression over the whole type."""
    reason: str
    """What is known, as a clause about the type."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class ImageRow(Row):
    """The base images that one publisher offers for an operating system and an architecture."""

    os: str
    arch: str
    """amd64 | arm64."""
    owner: str
    """Account that publishes them."""
    name: str
    """Pattern of their names, as EC2's filter `name` takes it: `*` any text, `?` one character."""
    user: str
    """Login user."""
    root_device: str | None
