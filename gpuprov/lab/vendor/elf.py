"""Writes the two kinds of ELF file the simulated driver needs: a kernel module and a shared library.

Both are real ELF64 files, so the node's own `modinfo`, `depmod`, `ldconfig` and `dlopen` read them: nothing on a node
has to be replaced. The module holds no code (no kernel ever loads it); the library holds just the functions given.
Layout: System V ABI, generic and x86-64/AArch64 supplements.
"""

import struct
from collections.abc import Mapping, Sequence

MACHINES: Mapping[str, int] = {"amd64": 62, "arm64": 183}
"""ELF e_machine by Debian architecture (EM_X86_64, EM_AARCH64)."""

_RELOCATABLE, _SHARED = 1, 3
_PROGBITS, _SYMTAB, _STRTAB = 1, 2, 3
_HEADER_SIZE, _SECTION_SIZE, _SEGMENT_SIZE, _SYMBOL_SIZE = 64, 64, 56, 24
_PAGE = 0x10000
"""Largest page size of both machines: segments that differ in rights lie this far apart in memory."""


def kernel_module(fields: Sequence[tuple[str, str]], *, architecture: str) -> bytes:
    """Gives a relocatable object whose `.modinfo` section holds `fields` as the kernel's tools write them."""
    modinfo = b"".join(f"{key}={value}".encode() + b"\0" for key, value in fields)
    sections: list[tuple[str, int, int, bytes, int, int, int, int]] = [
        (".modinfo", _PROGBITS, 2, modinfo, 1, 0, 0, 0),
        (".symtab", _SYMTAB, 0, bytes(_SYMBOL_SIZE), 8, _SYMBOL_SIZE, 3, 1),
        (".strtab", _STRTAB, 0, b"\0", 1, 0, 0, 0),
    ]
    names = b"\0"
    offsets = []
    for name in [*(section[0] for section in sections), ".shstrtab"]:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    sections.append((".shstrtab", _STRTAB, 0, names, 1, 0, 0, 0))

    body = b""
    headers = bytes(_SECTION_SIZE)
    for name_offset, (_, kind, flags, data, align, entry, link, info) in zip(offsets, sections, strict=True):
        body += bytes(-(_HEADER_SIZE + len(body)) % align)
        headers += struct.pack(
            "<IIQQQQIIQQ", name_offset, kind, flags, 0, _HEADER_SIZE + len(body), len(data), link, info, align, entry
        )
        body += data
    body += bytes(-(_HEADER_SIZE + len(body)) % 8)
    header = _header(
        _RELOCATABLE,
        architecture,
        section_offset=_HEADER_SIZE + len(body),
        sections=len(sections) + 1,
        names=len(sections),
    )
    return header + body + headers


def shared_library(soname: str, functions: Mapping[str, bytes], *, architecture: str) -> bytes:
    """Gives a loadable shared library named `soname` that exports `functions` (name -> machine code)."""
    strings = b"\0"
    string_of: dict[str, int] = {}
    for text in [soname, *functions]:
        string_of[text] = len(strings)
        strings += text.encode() + b"\0"

    text_offset = _HEADER_SIZE + 3 * _SEGMENT_SIZE
    code = b""
    symbols = bytes(_SYMBOL_SIZE)
    for name, machine_code in functions.items():
        code += bytes(-len(code) % 16)
        symbols += struct.pack(
            "<IBBHQQ", string_of[name], 0x12, 0, 1, text_offset + len(code), len(machine_code)
        )  # global function; any section index but 0 means "defined here"
        code += machine_code
    code += bytes(-len(code) % 8)

    symbol_offset = text_offset + len(code)
    hash_offset = symbol_offset + len(symbols)
    table = _hash_table(len(functions))
    string_offset = hash_offset + len(table)
    read_only_end = string_offset + len(strings)
    dynamic_offset = read_only_end + -read_only_end % 16
    dynamic = b"".join(
        struct.pack("<qQ", tag, value)
        for tag, value in [
            (14, string_of[soname]),  # DT_SONAME
            (4, hash_offset),  # DT_HASH
            (5, string_offset),  # DT_STRTAB
            (6, symbol_offset),  # DT_SYMTAB
            (10, len(strings)),  # DT_STRSZ
            (11, _SYMBOL_SIZE),  # DT_SYMENT
            (0, 0),
        ]
    )
    # The loader relocates the dynamic section in place, so it needs a writable segment of its own.
    dynamic_address = dynamic_offset + _PAGE
    segments = (
        _segment(1, 5, 0, 0, read_only_end)
        + _segment(1, 6, dynamic_offset, dynamic_address, len(dynamic))
        + _segment(2, 6, dynamic_offset, dynamic_address, len(dynamic), align=8)
    )
    header = _header(_SHARED, architecture, segment_offset=_HEADER_SIZE, segments=3)
    read_only = header + segments + code + symbols + table + strings
    return read_only + bytes(dynamic_offset - read_only_end) + dynamic


def store_number(number: int, *, architecture: str) -> bytes:
    """Gives code of `int f(int *out)` that stores `number` (0 to 65535) in `*out` and returns 0 (success)."""
    if architecture == "arm64":
        words = (0x52800001 | number << 5, 0xB9000001, 0x52800000, 0xD65F03C0)  # movz w1; str w1,[x0]; mov w0,0; ret
        return struct.pack("<4I", *words)
    return b"\xc7\x07" + struct.pack("<I", number) + b"\x31\xc0\xc3"  # mov dword [rdi], number; xor eax,eax; ret


def _hash_table(count: int) -> bytes:
    """Gives a DT_HASH table with one bucket: every symbol is in its chain."""
    chain = [0, *(index + 1 if index < count else 0 for index in range(1, count + 1))]
    table = struct.pack("<III", 1, count + 1, 1 if count else 0) + struct.pack(f"<{count + 1}I", *chain)
    return table + bytes(-len(table) % 8)


def _segment(kind: int, rights: int, offset: int, address: int, size: int, *, align: int = _PAGE) -> bytes:
    return struct.pack("<IIQQQQQQ", kind, rights, offset, address, address, size, size, align)


def _header(
    kind: int,
    architecture: str,
    *,
    segment_offset: int = 0,
    segments: int = 0,
    section_offset: int = 0,
    sections: int = 0,
    names: int = 0,
) -> bytes:
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)  # 64 bit, little endian, version 1, System V
    return identity + struct.pack(
        "<HHIQQQIHHHHHH",
        kind,
        MACHINES[architecture],
        1,
        0,
        segment_offset,
        section_offset,
        0,
        _HEADER_SIZE,
        _SEGMENT_SIZE if segments else 0,
        segments,
        _SECTION_SIZE if sections else 0,
        sections,
        names,
    )
