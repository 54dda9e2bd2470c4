"""What a host should be: Lock + Spec + pool + host -> PoolWant, HostWant.

Owns: the wanted packages, sources, files, services and checks, and their digests.
Takes: a Spec, a Lock, catalog rows, a Host.
Gives: PoolWant, HostWant, and the expectations that compare holds against a Snapshot.
Must not: look at a host, open a file, or decide a version.
"""
