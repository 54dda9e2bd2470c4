import gzip
import io
import tarfile

from gpuprov.lab.vendor.deb import Entry, write_deb

ENTRIES = [
    Entry(path="/usr/bin/tool", data=b"#!/bin/sh\n", mode=0o755),
    Entry(path="/etc/tool.conf", data=b"a = 1\n", conffile=True),
    Entry(path="/usr/lib/tool.so", link="tool.so.1"),
]
CONTROL = "Package: tool\nVersion: 1-1\nArchitecture: all\n"


def members(package: bytes) -> dict[str, bytes]:
    """Reads an ar archive."""
    assert package[:8] == b"!<arch>\n"
    found = {}
    place = 8
    while place < len(package):
        header = package[place : place + 60]
        assert header[58:] == b"`\n"
        size = int(header[48:58])
        found[header[:16].decode().strip()] = package[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    return found


def tar(data: bytes) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(gzip.decompress(data)))


def test_a_package_has_the_three_members_in_dpkgs_order() -> None:
    found = members(write_deb(CONTROL, ENTRIES, {}))
    assert list(found) == ["debian-binary", "control.tar.gz", "data.tar.gz"]
    assert found["debian-binary"] == b"2.0\n"


def test_files_links_and_folders_belong_to_root_and_have_their_modes() -> None:
    with tar(members(write_deb(CONTROL, ENTRIES, {}))["data.tar.gz"]) as archive:
        rows = {member.name.rstrip("/"): member for member in archive.getmembers()}
        assert archive.extractfile("./usr/bin/tool").read() == b"#!/bin/sh\n"  # type: ignore[union-attr]
    assert set(rows) == {
        ".",
        "./usr",
        "./usr/bin",
        "./usr/lib",
        "./etc",
        "./usr/bin/tool",
        "./etc/tool.conf",
        "./usr/lib/tool.so",
    }
    assert all((row.uid, row.gid, row.uname) == (0, 0, "root") for row in rows.values())
    assert (rows["./usr/bin/tool"].mode, rows["./etc/tool.conf"].mode) == (0o755, 0o644)
    assert (rows["./usr/lib/tool.so"].issym(), rows["./usr/lib/tool.so"].linkname) == (True, "tool.so.1")


def test_control_holds_scripts_that_can_run_conffiles_and_checksums() -> None:
    with tar(members(write_deb(CONTROL, ENTRIES, {"postinst": "#!/bin/sh\nexit 0\n"}))["control.tar.gz"]) as archive:
        texts = {m.name: archive.extractfile(m).read().decode() for m in archive.getmembers() if m.isfile()}  # type: ignore[union-attr]
        assert archive.getmember("./postinst").mode == 0o755
    assert texts["./control"] == CONTROL
    assert texts["./conffiles"] == "/etc/tool.conf\n"
    assert [line.split("  ")[1] for line in texts["./md5sums"].splitlines()] == ["usr/bin/tool", "etc/tool.conf"]


def test_the_same_content_gives_the_same_bytes_in_any_order() -> None:
    plain = [entry for entry in ENTRIES if entry.link is not None]
    assert write_deb(CONTROL, ENTRIES, {}) == write_deb(CONTROL, list(ENTRIES), {})
    assert write_deb(CONTROL, plain, {}) != write_deb(CONTROL, ENTRIES, {})
