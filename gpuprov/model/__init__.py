"""The values that every room shares.

Owns: address, diagnostic, exit status, version, package, fact, snapshot, facet, finding, change.
Takes: nothing.
Gives: frozen values and pure functions over them.
Must not: open a file, a socket, a process or a clock; import another room.
"""
