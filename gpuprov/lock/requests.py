"""From a spec to package requests: which packages the wanted parts of the stack are, by the catalog's rows."""

from dataclasses import dataclass, field
from typing import Final

from gpuprov.catalog.find import branch, branches_of, gpu, packages_for, system
from gpuprov.catalog.load import FILES, PACKAGED, Catalog, rows
from gpuprov.catalog.rows import BranchRow, GpuRow, PackagesRow, Row, SystemRow
from gpuprov.catalog.rows_stack import EngineRow
from gpuprov.lock.architecture import pool_architecture
from gpuprov.lock.frameworks import framework_need
from gpuprov.lock.kernel import kernel_need
from gpuprov.lock.pool_input import EqualSet, KernelNeed, PoolInput, Request
from gpuprov.model.address import join
from gpuprov.model.diagnostic import Diagnostic, GpuprovError
from gpuprov.spec.stack import DriverSpec
from gpuprov.spec.storage import SHARED
from gpuprov.spec.types import PoolSpec, Spec

FABRIC_ON_HOST: Final = ("nvswitch", "nvlsm")
"""Fabrics whose manager runs on the host itself."""

NFS_CLIENT: Final = "nfs-common"
"""The package that brings mount.nfs (packages.debian.org and packages.ubuntu.com, its contents, 2026-11-30)."""

_VENDOR: Final = "nvidia"
_OS: Final = "os"
_BEFORE_TURING: Final = ("kepler", "maxwell", "pascal", "volta")
_DIGESTED: Final[dict[type[Row], tuple[str, ...]]] = {
    PackagesRow: ("packages", "free", "equal"),
    SystemRow: ("engine", "node_exporter"),
    GpuRow: ("fabric", "architecture"),
    BranchRow: ("max_cuda",),
}
"""The fields of a row that requests are made from: a new note or date in the catalog makes no lock stale."""
_TABLES: Final = {kind: table for table, kind in FILES.items()}


@dataclass(slots=True)
class _Asked:
    """What one pool asks for, while it is gathered."""

    spec: Spec
    pool: PoolSpec
    family: str
    arch: str
    vendor: str
    """Source of NVIDIA's packages other than the driver."""
    requests: list[Request] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    equal: list[EqualSet] = field(default_factory=list)
    kernel: KernelNeed | None = None

    def at(self, leaf: str) -> str:
        """The address that asks: the pool's own where it overrides the spec's; exporters where the leaf is empty."""
        if not leaf:
            return "monitoring.exporters"
        own, shared = f"pools.{self.pool.name}.stack.{leaf}", f"stack.{leaf}"
        spans = self.spec.spans
        return own if own in spans and spans[own] != spans.get(shared) else shared

    def add(
        self, names: tuple[str, ...], *, constraint: str, source: str, leaf: str, free: tuple[str, ...] = ()
    ) -> None:
        """Ask for packages; those in `free` without a constraint. GP-SPEC-005 for a source of other hosts."""
        hosts = self.pool.os, self.arch
        if not _serves(self.spec, source, *hosts):
            others = [name for name, each in self.spec.sources.items() if each.type == "apt" and each.serves(*hosts)]
            hint = f"name one that is, in stack.driver.source: {', '.join(others)}" if others else ""
            summary = f"the source {source} is not for {self.pool.os} on {self.arch}"
            raise _refused("GP-SPEC-005", self.at(leaf), summary, hint)
        for name in names:
            wanted = "" if name in free else constraint
            self.requests.append(Request(name=name, constraint=wanted, source=source, address=self.at(leaf)))

    def row(
        self, part: str, leaf: str, *, branch_number: int | None = None, origin: str = _VENDOR, modules: str = ""
    ) -> PackagesRow:
        """The catalog's row for a part; GP-CAT-002 where there is none."""
        found = packages_for(
            part,
            family=self.family,
            origin=origin,
            branch=branch_number,
            modules=modules,
            catalog=self.spec.catalog,
        )
        if found is None:
            of = f" of branch {branch_number}" if branch_number else ""
            flavour = f" with {modules} modules" if modules else ""
            summary = f"the catalog has no packages for the {part}{of}{flavour} from {origin} on {self.pool.os}"
            raise _refused("GP-CAT-002", self.at(leaf), summary)
        self.rows.append(found)
        return found

    @property
    def branches(self) -> tuple[int, ...]:
        """The driver branches that the spec leaves open; GP-SPEC-005 for none."""
        driver = self.pool.stack.driver
        found = branches_of(driver.version, self.spec.catalog) if driver is not None else ()
        if driver is not None and not found:
            summary = f"no driver branch of the catalog fits {driver.version}"
            raise _refused("GP-SPEC-005", self.at("driver.version"), summary, 'name a branch, such as "580.*"')
        return found

    def one_of_branches(self, part: str, leaf: str, *, origin: str = _VENDOR, modules: str = "") -> PackagesRow:
        """The row of a part whose names depend on the branch; several open branches must agree on it."""
        branches = self.branches
        found = [self.row(part, leaf, branch_number=b, origin=origin, modules=modules) for b in branches]
        fills_in = any("<branch>" in name for name in found[0].packages) and len(branches) > 1
        if fills_in or any(row != found[0] for row in found):
            raise self._several(leaf, part)
        return found[0]

    def cuda_major(self, leaf: str) -> int:
        """The CUDA major that the wanted driver reports, which names DCGM's second package."""
        if self.pool.stack.driver is None:
            summary = "DCGM's packages depend on the driver, and the stack has no driver"
            raise _refused("GP-SPEC-005", self.at(leaf), summary, "add stack.driver, or write `dcgm: null`")
        found = {number: branch(number, self.spec.catalog) for number in self.branches}
        for number, row in found.items():
            if row is None or row.max_cuda is None:
                summary = f"the catalog does not know which CUDA driver branch {number} reports"
                raise _refused("GP-CAT-002", self.at("driver.version"), summary, "use a branch that the catalog knows")
            self.rows.append(row)
        majors = {int((row.max_cuda or "0").partition(".")[0]) for row in found.values() if row}
        if len(majors) > 1:
            raise self._several("driver.version", "dcgm")
        return _with_old_gpu(self.pool, majors.pop(), self.spec.catalog)

    def _several(self, leaf: str, part: str) -> GpuprovError:
        branches = ", ".join(str(number) for number in self.branches)
        return _refused(
            "GP-SPEC-005",
            self.at(leaf),
            f"the version leaves the branches {branches} open, and the packages for the {part} differ between them",
            f'name one branch, such as "{self.branches[0]}.*"',
        )


def pool_inputs(spec: Spec) -> tuple[PoolInput, ...]:
    """What every pool asks the resolver for, in the order of the spec.

    Raises:
        GpuprovError: as `requests_for`; the problems of all pools together.
    """
    inputs: list[PoolInput] = []
    wrong: list[Diagnostic] = []
    for pool in spec.pools.values():
        try:
            asked = _ask(spec, pool)
            frameworks = framework_need(spec, pool, asked.arch)
        except GpuprovError as error:
            wrong += error.diagnostics
            continue
        inputs.append(
            PoolInput(
                pool=pool.name,
                os=pool.os,
                arch=asked.arch,
                requests=tuple(dict.fromkeys(asked.requests)),
                equal=tuple(asked.equal),
                frameworks=frameworks,
                kernel=asked.kernel,
            )
        )
    if wrong:
        raise GpuprovError(*wrong)
    return tuple(inputs)


def requests_for(spec: Spec, pool: PoolSpec) -> tuple[Request, ...]:
    """The packages that one pool asks for, each with the address of the field that asks.

    Raises:
        GpuprovError: GP-CAT-002 when the catalog names no packages for a part; GP-SPEC-005 when a part's packages
            depend on the driver's branch, and there is no driver or its version leaves several branches open.
    """
    return tuple(dict.fromkeys(_ask(spec, pool).requests))


def catalog_inputs(spec: Spec) -> dict[str, str]:
    """What requests are made from in the catalog: for each row, as `systems.debian-12`, the fields that were used."""
    rows = [row for pool in spec.pools.values() for row in _ask(spec, pool).rows]
    return dict(sorted((f"{_TABLES[type(row)]}.{row.id}", _used(row)) for row in rows))


def _used(row: Row) -> str:
    """The fields of a row that requests are made from, in words."""
    fields = {name: getattr(row, name) for name in _DIGESTED[type(row)]}
    texts = {name: ", ".join(value) if isinstance(value, tuple) else str(value) for name, value in fields.items()}
    return "; ".join(f"{name}: {text}" for name, text in texts.items() if fields[name] not in (None, (), ""))


def needs_fabric(pool: PoolSpec, catalog: Catalog = PACKAGED) -> GpuRow | None:
    """The pool's GPU, where it needs Fabric Manager on the host and the spec leaves that to gpuprov."""
    row = gpu(pool.gpu.model, catalog) if pool.gpu else None
    return row if row is not None and row.fabric in FABRIC_ON_HOST and pool.stack.fabric == "auto" else None


def _ask(spec: Spec, pool: PoolSpec) -> _Asked:
    os_row = system(pool.os, spec.catalog)
    if os_row is None or not os_row.built:
        raise _refused("GP-CAT-002", f"pools.{pool.name}.os", f"the catalog has no packages for {pool.os}")
    arch = pool_architecture(spec, pool)
    driver = pool.stack.driver
    own = driver.source if driver is not None and driver.source != _OS else _VENDOR
    vendor = _VENDOR if _VENDOR in spec.sources and _serves(spec, _VENDOR, pool.os, arch) else own
    asked = _Asked(spec=spec, pool=pool, family=os_row.family, arch=arch, vendor=vendor, rows=[os_row])
    asked.kernel = kernel_need(pool, os_row, arch, asked.at("kernel"))
    if driver is not None:
        _driver(asked, driver)
    if pool.stack.cuda is not None:
        row = asked.row("cuda", "cuda")
        names = tuple(_filled(name, cuda=pool.stack.cuda) for name in row.packages)
        asked.add(names, constraint="", source=asked.vendor, leaf="cuda")
    _container(asked, os_row)
    _dcgm(asked)
    if "node" in spec.exporters and os_row.node_exporter:
        asked.add((os_row.node_exporter,), constraint="", source=_OS, leaf="")
    shared = [name for name, each in spec.storage.items() if each.kind == SHARED and each.serves(pool.name)]
    if shared:
        address = join("storage", shared[0])
        asked.requests.append(Request(name=NFS_CLIENT, constraint="", source=_OS, address=address))
    for index, package in enumerate(pool.stack.packages):
        asked.add((package.name,), constraint=package.version, source="", leaf=f"packages[{index}]")
    return asked


def _serves(spec: Spec, source: str, os: str, arch: str) -> bool:
    return source not in spec.sources or spec.sources[source].serves(os, arch)


def _driver(asked: _Asked, driver: DriverSpec) -> None:
    """The driver, and Fabric Manager equal to it where the GPU needs one."""
    origin = _OS if driver.source == _OS else _VENDOR
    row = asked.one_of_branches("driver", "driver.version", origin=origin, modules=driver.modules)
    asked.add(row.packages, constraint=driver.version, source=driver.source, leaf="driver.version", free=row.free)
    equal = set(row.packages) - set(row.free)
    gpu_row = needs_fabric(asked.pool, asked.spec.catalog)
    if gpu_row is not None and origin != _OS:
        asked.rows.append(gpu_row)
        fabric = asked.one_of_branches("fabric", "driver.version")
        names = tuple(_filled(name, branch_number=asked.branches[0]) for name in fabric.packages)
        asked.add(names, constraint=driver.version, source=driver.source, leaf="fabric")
        equal |= set(names)
    asked.equal.insert(
        0, EqualSet(label="driver", names=frozenset(equal), driver=True, apart=frozenset({*row.free, *row.apart}))
    )


def _container(asked: _Asked, os_row: SystemRow) -> None:
    container = asked.pool.stack.container
    if container is None:
        return
    asked.add(_engine(asked, os_row, container.engine), constraint="", source=_OS, leaf="container")
    if container.toolkit:
        row = asked.row("toolkit", "container.toolkit")
        asked.add(row.packages, constraint=container.toolkit, source=asked.vendor, leaf="container.toolkit")
        asked.equal.append(EqualSet(label="container toolkit", names=frozenset(row.packages)))


def _engine(asked: _Asked, os_row: SystemRow, engine: str) -> tuple[str, ...]:
    """The OS's packages of an engine: Docker comes with containerd below it, containerd without Docker."""
    engines = rows(EngineRow, asked.spec.catalog)
    others = {name for row in engines if row.id not in {engine, "containerd"} for name in row.packages}
    return tuple(name for name in os_row.engine if name not in others)


def _dcgm(asked: _Asked) -> None:
    version = asked.pool.stack.dcgm
    if version is not None:
        row = asked.row("dcgm", "dcgm")
        names = tuple(_filled(name, major=asked.cuda_major("dcgm")) for name in row.packages)
        asked.add(names, constraint=version, source=asked.vendor, leaf="dcgm")
        asked.equal.append(EqualSet(label="DCGM", names=frozenset(names)))
    if "dcgm" in asked.spec.exporters and asked.pool.gpu is not None:
        row = asked.row("dcgm_exporter", "")
        asked.add(row.packages, constraint="", source=asked.vendor, leaf="")


def _with_old_gpu(pool: PoolSpec, major: int, catalog: Catalog) -> int:
    """DCGM's CUDA major for the pool's GPU: CUDA 13 left the architectures before Turing, which take CUDA 12's."""
    # Azure/azhpc-images components/install_dcgm.sh, 2026-07-29.
    row = gpu(pool.gpu.model, catalog) if pool.gpu else None
    return min(major, 12) if row is not None and row.architecture in _BEFORE_TURING else major


def _filled(name: str, *, branch_number: int = 0, cuda: str = "", major: int = 0) -> str:
    """A package's name with the branch, the CUDA release or the CUDA major filled in."""
    release = cuda.split(".")
    if cuda:
        name = name.replace("<M>", release[0]).replace("<m>", release[1])
    return name.replace("<branch>", str(branch_number)).replace("<N>", str(major))


def _refused(code: str, address: str, summary: str, hint: str = "") -> GpuprovError:
    return GpuprovError(Diagnostic(code=code, summary=summary, address=address, hint=hint))
