import gzip
import hashlib
import lzma
import os
import shutil
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pysequoia
import pytest

from gpuprov.lab.gpus import DRIVER_RELEASES
from gpuprov.lab.vendor import repository
from gpuprov.lab.vendor.repository import Signature, VendorRepository, build
from gpuprov.model.progress import Progress

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

RELEASES = ("580.95.05", "580.105.08")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def published(tmp_path: Path, cache: Path) -> VendorRepository:
    return build(tmp_path / "repo", driver_releases=RELEASES, cache=cache)


def signed_text(made: VendorRepository) -> str:
    certificate = pysequoia.Cert.from_bytes(made.key.read_bytes())
    found = pysequoia.verify((made.folder / "InRelease").read_bytes(), store=lambda _: [certificate])
    return bytes(found.bytes).decode()


def test_the_index_is_what_the_signed_release_says(published: VendorRepository) -> None:
    lines = signed_text(published).splitlines()
    assert lines[:3] == ["Origin: NVIDIA", "Label: NVIDIA CUDA", "Architecture: x86_64"]
    assert not any(line.startswith(("Valid-Until", "Suite", "Components")) for line in lines)
    table = {row.split()[2]: row.split()[:2] for row in lines[lines.index("SHA256:") + 1 :]}
    for name in ("Packages", "Packages.gz", "Packages.xz"):
        data = (published.folder / name).read_bytes()
        assert table[name] == [hashlib.sha256(data).hexdigest(), str(len(data))]
    plain = (published.folder / "Packages").read_bytes()
    assert gzip.decompress((published.folder / "Packages.gz").read_bytes()) == plain
    assert lzma.decompress((published.folder / "Packages.xz").read_bytes()) == plain


def test_each_paragraph_names_a_file_with_its_digest(published: VendorRepository) -> None:
    paragraphs = (published.folder / "Packages").read_text().strip().split("\n\n")
    assert len(paragraphs) == len(published.rows) > 100
    for paragraph in paragraphs:
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if not line.startswith(" "))
        data = (published.folder / fields["Filename"]).read_bytes()
        assert (fields["SHA256"], fields["Size"]) == (hashlib.sha256(data).hexdigest(), str(len(data)))


def test_only_the_chosen_driver_releases_are_offered(published: VendorRepository) -> None:
    assert published.versions("nvidia-driver-cuda") == ("580.95.05-1", "580.105.08-1")
    assert published.versions("cuda-toolkit-13-0") == ("13.0.2-1", "13.0.3-1")
    assert {path.name for path in published.folder.glob("*.deb")} == {row.file_name for row in published.rows}


def test_a_release_is_withdrawn_and_offered_again_under_the_same_key(published: VendorRepository, cache: Path) -> None:
    gone = build(published.folder, driver_releases=RELEASES, withdraw=["driver/580.95.05"], cache=cache)
    assert gone.versions("libcuda1") == ("580.105.08-1",)
    assert not list(published.folder.glob("libcuda1_580.95.05*"))
    assert "580.95.05-1" not in (published.folder / "Packages").read_text()
    assert gone.fingerprint == published.fingerprint
    signed_text(gone)
    assert build(published.folder, driver_releases=RELEASES, cache=cache).rows == published.rows


def test_one_package_alone_can_be_withdrawn(tmp_path: Path, cache: Path) -> None:
    made = build(tmp_path, driver_releases=RELEASES, withdraw=["libnvidia-ml1=580.105.08-1"], cache=cache)
    assert made.versions("libnvidia-ml1") == ("580.95.05-1",)
    assert made.versions("libcuda1") == ("580.95.05-1", "580.105.08-1")


def test_a_shared_component_stays_while_one_of_its_releases_stays(tmp_path: Path, cache: Path) -> None:
    made = build(tmp_path, driver_releases=RELEASES, withdraw=["cuda/13.0.2"], cache=cache)
    assert made.versions("cuda-toolkit-13-0") == ("13.0.3-1",)
    assert made.versions("cuda-nvcc-13-0") == ("13.0.88-1",)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("driver_releases", ["580.1"]), ("withdraw", ["driver/580.1"]), ("withdraw", ["libcuda1=1"])],
)
def test_what_is_not_described_is_refused_and_nothing_written(
    argument: str, value: list[str], tmp_path: Path, cache: Path
) -> None:
    with pytest.raises(ValueError, match=rf"{argument}: .*580\.1|libcuda1=1"):
        build(tmp_path / "repo", cache=cache, **{argument: value})  # type: ignore[arg-type]
    assert not (tmp_path / "repo").exists()


def test_a_date_of_expiry_can_be_set(tmp_path: Path, cache: Path) -> None:
    made = build(tmp_path, driver_releases=RELEASES, valid_until=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), cache=cache)
    assert "Valid-Until: Fri, 02 Jan 2026 03:04:05 GMT" in signed_text(made)


@pytest.mark.parametrize("fault", [Signature.OTHER_KEY, Signature.TAMPERED])
def test_a_bad_signature_does_not_verify(fault: Signature, tmp_path: Path, cache: Path) -> None:
    made = build(tmp_path, driver_releases=RELEASES, signature=fault, cache=cache)
    with pytest.raises(Exception, match=r"(?i)signature|verif|key"):
        signed_text(made)


def test_a_missing_signature_leaves_only_release(published: VendorRepository, cache: Path) -> None:
    build(published.folder, driver_releases=RELEASES, signature=Signature.MISSING, cache=cache)
    names = {path.name for path in published.folder.iterdir() if path.suffix != ".deb"}
    assert names == {"Packages", "Packages.gz", "Packages.xz", "Release", repository.KEY_FILE}


def test_the_second_build_takes_everything_from_the_cache(tmp_path: Path, cache: Path) -> None:
    build(tmp_path / "one", driver_releases=RELEASES, cache=cache)
    seen: list[Progress] = []
    build(tmp_path / "two", driver_releases=RELEASES, cache=cache, progress=seen.append)
    assert [progress.finished for progress in seen] == [True]


def test_packages_of_other_inputs_are_forgotten_when_nobody_used_them_for_long(tmp_path: Path, cache: Path) -> None:
    for name, age in (("vendor-old", 15), ("vendor-recent", 13)):
        (cache / "lab" / name).mkdir(parents=True)
        (cache / "lab" / name / "rows.json").touch()
        moment = time.time() - age * 24 * 3600
        os.utime(cache / "lab" / name / "rows.json", (moment, moment))
    build(tmp_path, driver_releases=RELEASES, cache=cache)
    assert not (cache / "lab/vendor-old").exists()
    assert (cache / "lab/vendor-recent").exists()


def test_every_release_that_a_seed_can_draw_is_described(tmp_path: Path, cache: Path) -> None:
    for releases in DRIVER_RELEASES.values():
        made = build(tmp_path, driver_releases=releases, cache=cache)
        assert made.versions("nvidia-kernel-open-dkms") == tuple(f"{release}-1" for release in releases)


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs apt")
def test_apt_takes_the_repository_and_plans_a_closure(published: VendorRepository, tmp_path: Path) -> None:
    root = tmp_path / "apt"
    for folder in (
        "etc/apt/sources.list.d",
        "var/lib/apt/lists/partial",
        "var/cache/apt/archives/partial",
        "var/lib/dpkg",
    ):
        (root / folder).mkdir(parents=True)
    stub = (
        "Package: {}\nStatus: install ok installed\nVersion: 99\nArchitecture: all\nMaintainer: x\nDescription: x\n\n"
    )
    status = "".join(stub.format(name) for name in ("libc6", "python3", "kmod", "adduser"))
    (root / "var/lib/dpkg/status").write_text(status)
    source = f"Types: deb\nURIs: file:{published.folder}\nSuites: ./\nSigned-By: {published.key}\n"
    (root / "etc/apt/sources.list.d/vendor.sources").write_text(source)
    options = f'Dir "{root}"; Dir::State::status "{root}/var/lib/dpkg/status"; APT::Sandbox::User "root";\n'
    (root / "apt.conf").write_text(
        options + 'APT::Architecture "amd64"; APT::Architectures { "amd64"; }; Acquire::Languages "none";\n'
    )

    def apt(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"APT_CONFIG": str(root / "apt.conf"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
        return subprocess.run(["apt-get", *arguments], env=environment, capture_output=True, text=True, check=False)

    update = apt("update")
    assert update.returncode == 0, update.stderr
    plan = apt("-s", "install", "--no-install-recommends", "nvidia-driver-cuda", "nvidia-kernel-open-dkms")
    chosen = {
        line.split()[1]: line.split()[2].strip("(") for line in plan.stdout.splitlines() if line.startswith("Inst ")
    }
    assert len(chosen) > 10, plan.stdout + plan.stderr
    assert set(chosen.values()) == {"580.105.08-1"}
    half = apt("-s", "install", "nvidia-driver-cuda=580.95.05-1")
    assert half.returncode == 100
    assert "libnvidia-ml1 (= 580.95.05-1) but 580.105.08-1 is to be installed" in half.stdout
    floating = apt("-s", "install", "nvidia-open=580.95.05-1")
    assert "Inst libcuda1 (580.105.08-1 " in floating.stdout
