import ctypes
import platform
import struct
from pathlib import Path

import pytest

from gpuprov.lab.vendor.elf import MACHINES, kernel_module, shared_library, store_number

FIELDS = [("license", "Dual MIT/GPL"), ("version", "580.95.05"), ("alias", "a"), ("alias", "b")]


def sections(data: bytes) -> dict[str, bytes]:
    """Reads the sections of an ELF64 file, as readelf would."""
    start, size, count, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, start + number * size) for number in range(count)]
    contents = [data[offset : offset + length] for *_, offset, length in headers]
    table = contents[names]
    return {
        table[header[0] : table.index(b"\0", header[0])].decode(): content
        for header, content in zip(headers, contents, strict=True)
    }


@pytest.mark.parametrize("architecture", sorted(MACHINES))
def test_a_module_carries_its_description_where_modinfo_looks(architecture: str) -> None:
    data = kernel_module(FIELDS, architecture=architecture)
    assert data[:6] == b"\x7fELF\x02\x01"
    assert struct.unpack_from("<HH", data, 16) == (1, MACHINES[architecture])
    found = sections(data)
    assert found[".modinfo"] == b"license=Dual MIT/GPL\0version=580.95.05\0alias=a\0alias=b\0"
    assert {".symtab", ".strtab", ".shstrtab"} < set(found)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="loads code of this machine")
def test_a_library_can_be_loaded_and_its_functions_called(tmp_path: Path) -> None:
    functions = {name: store_number(value, architecture="amd64") for name, value in [("first", 13000), ("second", 7)]}
    path = tmp_path / "libtest.so"
    path.write_bytes(shared_library("libtest.so.1", functions, architecture="amd64"))
    library = ctypes.CDLL(str(path))
    for name, value in [("first", 13000), ("second", 7)]:
        number = ctypes.c_int(-1)
        assert getattr(library, name)(ctypes.byref(number)) == 0
        assert number.value == value
    assert not hasattr(library, "third")


def test_a_library_without_functions_can_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "libempty.so"
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    path.write_bytes(shared_library("libempty.so.1", {}, architecture=machine))
    assert ctypes.CDLL(str(path))


def test_the_code_for_arm64_is_four_instructions_that_hold_the_number() -> None:
    words = struct.unpack("<4I", store_number(12080, architecture="arm64"))
    assert (words[0] >> 5) & 0xFFFF == 12080
    assert words[3] == 0xD65F03C0  # ret
